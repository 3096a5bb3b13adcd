import { K8S008 } from '../../src/rules/k8s008.ts'
import { checkRule } from '../check-rule.ts'
import { cronJob } from '../cron-job.ts'

const SPEC = "  schedule: '@hourly'\n"

checkRule(K8S008, {
  bad: {
    v2alpha1: { 'a.yaml': cronJob(SPEC, 'batch/v2alpha1 # <<') },
    'a version in quotes': { 'a.yaml': cronJob(SPEC, '"batch/v1beta1" # <<') },
    'a version in a template': {
      'chart/templates/a.yaml': `{{- if .Values.enabled }}\n${cronJob(SPEC, 'batch/v1beta1 # <<')}{{- end }}\n`,
    },
  },
  good: {
    'batch/v1': { 'a.yaml': cronJob(SPEC) },
    'a version by capability': {
      'chart/templates/a.yaml': `{{- if .Capabilities.APIVersions.Has "batch/v1" }}\napiVersion: batch/v1\n{{- else }}\napiVersion: batch/v1beta1\n{{- end }}\nkind: CronJob\nspec:\n${SPEC}  jobTemplate: {}\n`,
    },
    'an old version for old clusters': {
      'chart/templates/a.yaml': `{{- if semverCompare "<1.21-0" .Capabilities.KubeVersion.Version }}\napiVersion: batch/v1beta1\n{{- else }}\napiVersion: batch/v1\n{{- end }}\nkind: CronJob\nspec:\n${SPEC}  jobTemplate: {}\n`,
    },
    'a version of a helper': { 'chart/templates/a.yaml': cronJob(SPEC, '{{ include "cronjob.apiVersion" . }}') },
    'another kind of that version': {
      'a.yaml': 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nspec: {}\n---\n'.concat(cronJob(SPEC)),
    },
    'a version in a comment': { 'a.yaml': `# apiVersion: batch/v1beta1\n${cronJob(SPEC)}` },
    'a version inside a text': {
      'a.yaml': `${cronJob(SPEC)}---\nkind: ConfigMap\ndata:\n  note: |\n    apiVersion: batch/v1beta1\n    kind: CronJob\n`,
    },
  },
})

import { K8S001 } from '../../src/rules/k8s001.ts'
import { checkRule } from '../check-rule.ts'
import { cronJob } from '../cron-job.ts'

checkRule(K8S001, {
  bad: {
    'Allow by name': { 'a.yaml': cronJob("  schedule: '@hourly'\n  concurrencyPolicy: Allow # <<\n") },
    'kind before apiVersion': {
      'a.yaml':
        'kind: CronJob\napiVersion: batch/v1\nspec:\n  schedule: "0 * * * *" # <<\n  jobTemplate: {spec: {template: {}}}\n',
    },
    'the second document only': {
      'a.yml': `${cronJob("  schedule: '@hourly'\n  concurrencyPolicy: Forbid\n")}---\n${cronJob("  schedule: '@hourly' # <<\n")}`,
    },
    'a Helm template with a templated schedule': {
      'chart/templates/a.yaml': `{{- if .Values.enabled }}\n${cronJob('  schedule: {{ .Values.schedule | quote }} # <<\n')}{{- end }}\n`,
    },
    'documents in a range': {
      'chart/templates/a.yaml': `{{- range .Values.jobs }}\n---\n${cronJob('  schedule: {{ .schedule | quote }} # <<\n')}{{- end }}\n`,
    },
    'an item of a List': {
      'a.yaml':
        'apiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: CronJob\n  spec:\n    schedule: "0 * * * *" # <<\n    jobTemplate: {}\n',
    },
    'a policy in a comment': { 'a.yaml': cronJob("  schedule: '@hourly' # <<\n  # concurrencyPolicy: Forbid\n") },
  },
  good: {
    Replace: { 'a.yaml': cronJob("  schedule: '@hourly'\n  concurrencyPolicy: Replace\n") },
    'a policy from values': {
      'a.yaml': cronJob("  schedule: '@hourly'\n  concurrencyPolicy: {{ .Values.concurrencyPolicy }}\n"),
    },
    'a conditional policy': {
      'a.yaml': cronJob(
        "  schedule: '@hourly'\n  {{- with .Values.policy }}\n  concurrencyPolicy: {{ . }}\n  {{- end }}\n",
      ),
    },
    'Allow under a condition': {
      'a.yaml': cronJob(
        "  schedule: '@hourly'\n  {{- if .Values.parallel }}\n  concurrencyPolicy: Allow\n  {{- end }}\n",
      ),
    },
    'a spec that a helper continues': {
      'a.yaml': cronJob(`  schedule: '@hourly'\n{{- include "common.cronjob" . | nindent 2 }}\n`),
    },
    'a patch that only changes the schedule': {
      'overlay/patch.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '0 * * * *'\n",
    },
    'a reference to a CronJob': {
      'kustomization.yaml': 'patches:\n- target:\n    kind: CronJob\n    name: report\n  path: patch.yaml\n',
    },
    'a CronJob of another API': { 'a.yaml': cronJob("  schedule: '@hourly'\n", 'jobs.example.com/v1') },
    'a Job': { 'a.yaml': 'apiVersion: batch/v1\nkind: Job\nspec:\n  template: {}\n' },
    'a merged anchor': {
      'a.yaml':
        "x: &common\n  concurrencyPolicy: Forbid\napiVersion: batch/v1\nkind: CronJob\nspec:\n  <<: *common\n  schedule: '@hourly'\n  jobTemplate: {}\n",
    },
  },
})

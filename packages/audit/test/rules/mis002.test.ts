import { MIS002 } from '../../src/rules/mis002.ts'
import { checkRule } from '../check-rule.ts'
import { cronJob } from '../cron-job.ts'

checkRule(MIS002, {
  bad: {
    'a deadline that is too short': { 'a.yaml': cronJob("  schedule: '@hourly'\n  startingDeadlineSeconds: 5 # <<\n") },
    'a deadline of the Job instead': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: '@hourly' # <<\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: 60\n",
    },
    'a deadline without a value': { 'a.yaml': cronJob("  schedule: '@hourly' # <<\n  startingDeadlineSeconds:\n") },
    'a Helm template': { 'chart/templates/a.yaml': cronJob('  schedule: {{ .Values.schedule }} # <<\n') },
  },
  good: {
    'ten seconds': { 'a.yaml': cronJob("  schedule: '@hourly'\n  startingDeadlineSeconds: 10\n") },
    'a deadline from values': {
      'a.yaml': cronJob("  schedule: '@hourly'\n  startingDeadlineSeconds: {{ .Values.deadline }}\n"),
    },
    'a conditional deadline': {
      'a.yaml': cronJob(
        "  schedule: '@hourly'\n  {{- if .Values.deadline }}\n  startingDeadlineSeconds: {{ .Values.deadline }}\n  {{- end }}\n",
      ),
    },
    'a spec from values': {
      'a.yaml': 'apiVersion: batch/v1\nkind: CronJob\nspec: {{- toYaml .Values.spec | nindent 2 }}\n',
    },
    'a Deployment': { 'a.yaml': 'apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1\n  template: {}\n' },
    'a file that is no YAML': { 'a.yaml': 'kind: CronJob\n\t- : : [ { "\n' },
  },
})

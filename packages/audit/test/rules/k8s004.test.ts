import { K8S004 } from '../../src/rules/k8s004.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S004, {
  bad: {
    'no deadline': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a deadline for the start only': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  startingDeadlineSeconds: 60\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a setting without a value': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
  },
  good: {
    'a deadline of the Job': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: 600\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a deadline of the pod': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          activeDeadlineSeconds: 600\n",
    },
    'a deadline from values': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: {{ .Values.deadline }}\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a conditional deadline': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      {{- with .Values.deadline }}\n      activeDeadlineSeconds: {{ . }}\n      {{- end }}\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a Job': {
      'a.yaml': 'apiVersion: batch/v1\nkind: Job\nspec:\n  template: {}\n',
    },
  },
})

import { K8S003 } from '../../src/rules/k8s003.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S003, {
  bad: {
    OnFailure: {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a setting without a value': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      backoffLimit:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'the second document': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n---\napiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
  },
  good: {
    Never: {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n",
    },
    'a limit': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      backoffLimit: 0\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a limit from values': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      backoffLimit: {{ .Values.limit }}\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a policy from values': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: {{ .Values.policy }}\n",
    },
    'a Job': {
      'a.yaml': 'apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      restartPolicy: OnFailure\n',
    },
  },
})

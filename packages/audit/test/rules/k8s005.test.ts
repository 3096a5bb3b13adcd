import { K8S005 } from '../../src/rules/k8s005.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S005, {
  bad: {
    'a policy in the spec of the Job': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      concurrencyPolicy: Forbid # <<\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a zone in the spec of the pod': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          timeZone: Etc/UTC # <<\n          restartPolicy: Never\n",
    },
    'a deadline beside the spec of the Job': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    startingDeadlineSeconds: 60 # <<\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
  },
  good: {
    'a policy where it belongs': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  concurrencyPolicy: Forbid\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a zone where it belongs': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  timeZone: Etc/UTC\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'suspend, which a Job has, too': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      suspend: true\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a label of that name': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\n  labels:\n    schedule: hourly\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n",
    },
    'a variable of a container': {
      'a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '@hourly'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          containers:\n            - name: a\n              env:\n                - name: timeZone\n                  value: Etc/UTC\n",
    },
  },
})

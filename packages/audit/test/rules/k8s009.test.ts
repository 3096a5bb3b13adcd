import { K8S009 } from '../../src/rules/k8s009.ts'
import { checkRule } from '../check-rule.ts'

checkRule(K8S009, {
  bad: {
    'a value': {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ .Values.schedule }}\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
    'a value with a default': {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ default .Values.a .Values.b }}\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
    'a value of a loop': {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ $job.schedule }}\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
  },
  good: {
    quote: {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ .Values.schedule | quote }}\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
    squote: {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ squote .Values.schedule }}\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
    'quotes around it': {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: "{{ .Values.schedule }}"\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
    toYaml: {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ toYaml .Values.schedule }}\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
    'a literal': {
      'chart/templates/a.yaml':
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: '*/5 * * * *'\n  jobTemplate:\n    spec:\n      template: {}\n",
    },
    'text beside it': {
      'chart/templates/a.yaml':
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: report\nspec:\n  schedule: {{ .Values.minute }} * * * *\n  jobTemplate:\n    spec:\n      template: {}\n',
    },
  },
})

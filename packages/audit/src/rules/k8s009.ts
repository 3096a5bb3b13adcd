import type { Rule } from './rule.ts'

const TEMPLATE = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: {{ .Values.schedule }}
  jobTemplate: {}
`

export const K8S009: Rule = {
  id: 'K8S009',
  level: 'warning',
  isScored: false,
  title: 'templated schedule without quotes',
  why: 'An expression that begins with `*` is a YAML alias without quotes, so the chart cannot be rendered.',
  fix: 'Write `{{ .Values.schedule | quote }}`.',
  bad: { 'chart/templates/report.yaml': TEMPLATE },
  good: { 'chart/templates/report.yaml': TEMPLATE.replace('schedule }}', 'schedule | quote }}') },
  check: (project) =>
    project.all('cron-job').flatMap(({ isUnquotedTemplate, place }) => {
      if (!isUnquotedTemplate) return []
      const message = 'The output of this template has no quotes: an expression that begins with `*` is no valid YAML.'
      return [{ rule: 'K8S009', level: 'warning', place, message }]
    }),
}

import type { Rule } from './rule.ts'

const MANIFEST = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: '*/10 * * * *'
  jobTemplate:
    spec:
      concurrencyPolicy: Forbid
      template: {}
`

export const K8S005: Rule = {
  id: 'K8S005',
  level: 'error',
  isScored: false,
  title: 'CronJob setting in the wrong place',
  why: 'Kubernetes ignores settings of a CronJob that stand under its job template.',
  fix: 'Move the setting to the spec of the CronJob, beside `schedule`.',
  bad: { 'k8s/report.yaml': MANIFEST },
  good: {
    'k8s/report.yaml': MANIFEST.replace('      concurrencyPolicy: Forbid\n', '').replace(
      'spec:\n',
      'spec:\n  concurrencyPolicy: Forbid\n',
    ),
  },
  check: (project) =>
    project.all('cron-job').flatMap(({ misplaced }) =>
      misplaced.map(({ key, place }) => {
        const message = `\`${key}\` is a setting of the CronJob and is ignored under its job template.`
        return { rule: 'K8S005', level: 'error', place, message }
      }),
    ),
}

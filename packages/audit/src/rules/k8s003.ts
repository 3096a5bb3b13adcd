import type { Rule } from './rule.ts'

const MANIFEST = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: '*/10 * * * *'
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
`

export const K8S003: Rule = {
  id: 'K8S003',
  level: 'info',
  isScored: false,
  title: 'CronJob repeats a failed run by default',
  why: 'Kubernetes restarts the container up to six times, so work that is not idempotent is done several times.',
  fix: 'State `backoffLimit`: 0 if the work must not be repeated.',
  bad: { 'k8s/report.yaml': MANIFEST },
  good: { 'k8s/report.yaml': MANIFEST.replace('      template:\n', '      backoffLimit: 0\n      template:\n') },
  check: (project) =>
    project.all('cron-job').flatMap(({ backoffLimit, restartPolicy, place }) => {
      const restarts = restartPolicy.state === 'literal' && restartPolicy.value === 'OnFailure'
      if (backoffLimit.state !== 'missing' || !restarts) return []
      const message =
        'restartPolicy is `OnFailure` and no backoffLimit is stated: a failed run is repeated up to six times.'
      return [{ rule: 'K8S003', level: 'info', place, message }]
    }),
}

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
        spec: {}
`

export const K8S004: Rule = {
  id: 'K8S004',
  level: 'info',
  isScored: false,
  title: 'CronJob without a deadline for its run',
  why: 'A run that hangs is never ended; with `Forbid` it also blocks every later run.',
  fix: 'Set `activeDeadlineSeconds` in the spec of the Job.',
  bad: { 'k8s/report.yaml': MANIFEST },
  good: {
    'k8s/report.yaml': MANIFEST.replace('      template:\n', '      activeDeadlineSeconds: 600\n      template:\n'),
  },
  check: (project) =>
    project.all('cron-job').flatMap(({ activeDeadlineSeconds, place }) => {
      if (activeDeadlineSeconds.state !== 'missing') return []
      const message = 'No activeDeadlineSeconds is stated: a run that hangs is never ended.'
      return [{ rule: 'K8S004', level: 'info', place, message }]
    }),
}

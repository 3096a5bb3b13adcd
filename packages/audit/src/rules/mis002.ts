import type { Finding, Rule } from './rule.ts'

const MANIFEST = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: '*/10 * * * *'
  jobTemplate: {}
`

/** The controller looks every 10 seconds: a shorter deadline can pass between two looks. */
const SHORTEST_DEADLINE = 10

export const MIS002: Rule = {
  id: 'MIS002',
  level: 'info',
  isScored: true,
  title: 'CronJob without startingDeadlineSeconds',
  why: 'After 100 missed starts the controller gives up on the CronJob for good (kubernetes/kubernetes#42649).',
  fix: 'Set `startingDeadlineSeconds`, for example to 300.',
  bad: { 'k8s/report.yaml': MANIFEST },
  good: { 'k8s/report.yaml': MANIFEST.replace('spec:\n', 'spec:\n  startingDeadlineSeconds: 300\n') },
  check: (project) =>
    project.all('cron-job').flatMap(({ startingDeadlineSeconds: deadline, place }): readonly Finding[] => {
      if (deadline.state === 'missing') {
        const message = 'startingDeadlineSeconds is missing: after 100 missed starts the controller gives up.'
        return [{ rule: 'MIS002', level: 'info', place, message }]
      }
      if (deadline.state !== 'literal' || !(Number(deadline.value) < SHORTEST_DEADLINE)) return []
      const message = `startingDeadlineSeconds is ${deadline.value}, but the controller looks every 10 seconds: starts are lost.`
      return [{ rule: 'MIS002', level: 'error', place: { path: place.path, line: deadline.line }, message }]
    }),
}

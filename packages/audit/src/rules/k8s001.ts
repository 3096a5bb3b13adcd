import type { Rule } from './rule.ts'

const MANIFEST = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: '*/10 * * * *'
  jobTemplate: {}
`

export const K8S001: Rule = {
  id: 'K8S001',
  level: 'warning',
  isScored: true,
  title: 'CronJob lets runs overlap',
  why: 'Kubernetes starts the next Job while the last one is still running, so slow runs pile up.',
  fix: 'Set `concurrencyPolicy: Forbid`, or `Replace` if the newer run should win.',
  bad: { 'k8s/report.yaml': MANIFEST },
  good: { 'k8s/report.yaml': MANIFEST.replace('spec:\n', 'spec:\n  concurrencyPolicy: Forbid\n') },
  check: (project) =>
    project.all('cron-job').flatMap(({ concurrencyPolicy, place, name }) => {
      const isAllowed = concurrencyPolicy.state === 'literal' && concurrencyPolicy.value === 'Allow'
      if (concurrencyPolicy.state !== 'missing' && !isAllowed) return []
      const state = isAllowed ? 'is `Allow`' : 'is missing, which means `Allow`'
      const message = `The concurrencyPolicy of CronJob ${name ?? 'in this template'} ${state}.`
      const line = concurrencyPolicy.state === 'literal' ? concurrencyPolicy.line : place.line
      return [{ rule: 'K8S001', level: 'warning', place: { path: place.path, line }, message }]
    }),
}

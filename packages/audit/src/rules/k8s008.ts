import type { Rule } from './rule.ts'

const MANIFEST = `apiVersion: batch/v1beta1
kind: CronJob
metadata:
  name: report
spec:
  schedule: '*/10 * * * *'
  jobTemplate: {}
`

export const K8S008: Rule = {
  id: 'K8S008',
  level: 'error',
  isScored: true,
  title: 'CronJob of a removed API version',
  why: 'Kubernetes has not served this version since 1.25, so the CronJob cannot be created or updated.',
  fix: 'Use `apiVersion: batch/v1`.',
  bad: { 'k8s/report.yaml': MANIFEST },
  good: { 'k8s/report.yaml': MANIFEST.replace('v1beta1', 'v1') },
  check: (project) =>
    project.all('cron-job').flatMap(({ apiVersion, place }) => {
      if (apiVersion.state !== 'literal' || !/^batch\/v(?:1beta1|2alpha1)$/.test(apiVersion.value)) return []
      const message = `\`${apiVersion.value}\` has not been served since Kubernetes 1.25.`
      return [{ rule: 'K8S008', level: 'error', place: { path: place.path, line: apiVersion.line }, message }]
    }),
}

import type { CronJob } from '../facts/cron-job.ts'
import type { Rule } from './rule.ts'

const MANIFEST = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: report
spec:
  schedule: '0 8 * * *'
  jobTemplate: {}
`

export const K8S002: Rule = {
  id: 'K8S002',
  level: 'info',
  isScored: true,
  title: 'CronJob at a fixed hour without timeZone',
  why: 'The hour is read in the zone of the controller, which the manifest does not state.',
  fix: "Set `timeZone: 'Etc/UTC'` or the zone that the hour is meant in.",
  bad: { 'k8s/report.yaml': MANIFEST },
  good: { 'k8s/report.yaml': MANIFEST.replace('spec:\n', 'spec:\n  timeZone: Etc/UTC\n') },
  check: (project) =>
    project.all('cron-job').flatMap((cronJob) => {
      const problem = problemOf(cronJob)
      if (problem === null) return []
      return [{ rule: 'K8S002', level: 'info', place: cronJob.place, message: problem }]
    }),
}

function problemOf({ schedule, timeZone }: CronJob): string | null {
  if (schedule.state !== 'literal') return null
  const zone = /^(?:CRON_)?TZ=\S*/.exec(schedule.value)?.[0]
  if (zone !== undefined)
    return `\`${zone}\` stands in the schedule, where Kubernetes refuses a zone: use \`timeZone\`.`
  if (timeZone.state !== 'missing' || !hasFixedHour(schedule.value)) return null
  return `Schedule \`${schedule.value}\` has a fixed hour, but no timeZone is stated.`
}

function hasFixedHour(expression: string): boolean {
  if (/^@(?:daily|midnight|weekly|monthly|yearly|annually)$/.test(expression)) return true
  const hour = expression.trim().split(/\s+/)[1]
  return hour !== undefined && /^\d/.test(hour) && !/^0-23(?:\/\d+)?$/.test(hour)
}

import { K8S002 } from '../../src/rules/k8s002.ts'
import { checkRule } from '../check-rule.ts'
import { cronJob } from '../cron-job.ts'

checkRule(K8S002, {
  bad: {
    'a list of hours': { 'a.yaml': cronJob('  schedule: "0 8,20 * * *" # <<\n') },
    'hours of work': { 'a.yaml': cronJob('  schedule: 0 9-17 * * 1-5 # <<\n') },
    'a macro': { 'a.yaml': cronJob("  schedule: '@daily' # <<\n") },
    'a zone inside the schedule': { 'a.yaml': cronJob('  schedule: "CRON_TZ=Europe/Paris */5 * * * *" # <<\n') },
    'a comment that names a zone': { 'a.yaml': cronJob('  schedule: "0 8 * * *" # 08:00 UTC <<\n') },
  },
  good: {
    'every hour': { 'a.yaml': cronJob('  schedule: "15 * * * *"\n') },
    'every sixth hour': { 'a.yaml': cronJob('  schedule: "0 */6 * * *"\n') },
    'every second hour, as a range': { 'a.yaml': cronJob('  schedule: "0 0-23/2 * * *"\n') },
    'a templated schedule': { 'a.yaml': cronJob('  schedule: {{ .Values.schedule | quote }}\n') },
    'a templated zone': { 'a.yaml': cronJob('  schedule: "0 8 * * *"\n  timeZone: {{ .Values.timeZone }}\n') },
    'a conditional zone': {
      'a.yaml': cronJob(
        '  schedule: "0 8 * * *"\n  {{- if .Values.tz }}\n  timeZone: {{ .Values.tz }}\n  {{- end }}\n',
      ),
    },
    '@hourly': { 'a.yaml': cronJob("  schedule: '@hourly'\n") },
  },
})

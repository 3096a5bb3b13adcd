import type { Rule } from './rule.ts'

const WORKFLOW = `on:
  schedule:
    - cron: '*/10 * * * *'
jobs:
  report:
    runs-on: ubuntu-latest
    steps:
      - run: ./report.sh
`

export const GHA001: Rule = {
  id: 'GHA001',
  level: 'info',
  isScored: true,
  title: 'scheduled workflow without concurrency',
  why: 'A slow run overlaps the next one or a run that was started by hand.',
  fix: 'Add a `concurrency` group to the workflow, for example its name.',
  bad: { '.github/workflows/report.yml': WORKFLOW },
  good: { '.github/workflows/report.yml': `concurrency: report\n${WORKFLOW}` },
  check: (project) =>
    project.all('workflow').flatMap(({ place, hasConcurrency }) => {
      if (hasConcurrency) return []
      const message = 'This workflow runs on a schedule, and neither it nor a job of it has a concurrency group.'
      return [{ rule: 'GHA001', level: 'info', place, message }]
    }),
}

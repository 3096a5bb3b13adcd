import { GHA001 } from '../../src/rules/gha001.ts'
import { checkRule } from '../check-rule.ts'

const PATH = '.github/workflows/nightly.yml'
const JOBS = 'jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ./a.sh\n'

checkRule(GHA001, {
  bad: {
    'a schedule beside other triggers': {
      [PATH]: `on:\n  push:\n  workflow_dispatch: {}\n  schedule: # <<\n    - cron: "0 3 * * SUN"\n${JOBS}`,
    },
    'a quoted key': { [PATH]: `"on":\n  schedule: # <<\n  - cron: '0 3 * * *'\n${JOBS}` },
    'concurrency in a comment': { [PATH]: `# concurrency: a\non:\n  schedule: # <<\n    - cron: '0 3 * * *'\n${JOBS}` },
    'a matrix that limits only itself': {
      [PATH]: `on: {schedule: [{cron: '0 3 * * *'}]} # <<\n${JOBS.replace('    steps', '    strategy: {max-parallel: 1}\n    steps')}`,
    },
  },
  good: {
    'a group of a job': {
      [PATH]: `on:\n  schedule:\n    - cron: '0 3 * * *'\n${JOBS.replace('    steps', '    concurrency: deploy\n    steps')}`,
    },
    'a group as a mapping': {
      [PATH]: `on:\n  schedule:\n    - cron: '0 3 * * *'\nconcurrency:\n  group: a\n  cancel-in-progress: false\n${JOBS}`,
    },
    'a workflow without a schedule': { [PATH]: `on:\n  push:\n    branches: [schedule]\n${JOBS}` },
    'a commented schedule': { [PATH]: `on:\n  push:\n  # schedule:\n  #   - cron: '0 3 * * *'\n${JOBS}` },
    'a file elsewhere': { 'docs/nightly.yml': `on:\n  schedule:\n    - cron: '0 3 * * *'\n${JOBS}` },
    'an input that is called schedule': {
      [PATH]: `on:\n  workflow_dispatch:\n    inputs:\n      schedule:\n        required: true\n${JOBS}`,
    },
  },
})

// One app in virtual time, from its start to its end, whose instructions are counted from outside. From the sources: users can't set the
// clock of an app.
import { parseArgs } from 'node:util'
import { measuredApp } from './measured-app.ts'

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '0' },
    measured: { type: 'boolean', default: false },
  },
})
const app = await measuredApp(Number(values.schedules))
if (values.measured) app.measure()
for (let round = 0; round < Number(values.rounds); round++) await app.round()
process.exit(0)

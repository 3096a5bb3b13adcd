/** A process with tasks of the drop-in, as a user would write it. Its store comes from CRONCE_STORE. */
import { appendFileSync } from 'node:fs'
import cron from '../../src/node-cron.ts'

const { DROP_IN_WITNESS: witness = '', DROP_IN_NAME: name = '', DROP_IN_HOLDS_MS: holds = '' } = process.env
const { DROP_IN_SIGNALS: signals = '' } = process.env

if (signals !== '') cron.setup({ signals: signals === 'true' })

cron.schedule(
  '* * * * * *',
  async ({ date, run }) => {
    appendFileSync(witness, `${name} ${date.getTime()} ${run?.attempt} begun\n`)
    if (holds !== '') await new Promise((resolve) => setTimeout(resolve, Number(holds)))
    appendFileSync(witness, `${name} ${date.getTime()} ${run?.attempt} ended\n`)
  },
  { name: 'ledger' },
)

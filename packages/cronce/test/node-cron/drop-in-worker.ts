/** A process with tasks of the drop-in, as a user would write it. Its store comes from CRONCE_STORE. */
import { appendFileSync } from 'node:fs'
import cron from '../../src/node-cron.ts'

const { DROP_IN_WITNESS: witness = '', DROP_IN_NAME: name = '', DROP_IN_HOLDS: holds = '' } = process.env

cron.schedule(
  '* * * * * *',
  async ({ date, run }) => {
    appendFileSync(witness, `${name} ${date.getTime()} ${run?.attempt} begun\n`)
    // One that never ends, until its process is killed.
    if (holds === 'true') await new Promise((resolve) => setTimeout(resolve, 600_000))
    appendFileSync(witness, `${name} ${date.getTime()} ${run?.attempt} ended\n`)
  },
  { name: 'ledger' },
)

/**
 * Effects in the store's own database: the rows that the job writes and the record that it is done are committed together, or
 * not at all. Here the first run fails after it has written; nothing of it is left.
 */
import { DatabaseSync } from 'node:sqlite'
import { cronce } from 'cronce'
import { sqlite } from 'cronce/sqlite'

const FILE = './cronce-exactly-once.db'
const shop = new DatabaseSync(FILE)
shop.exec('create table if not exists statements (due_at integer, customer text, cents integer)')

const app = cronce({ store: sqlite(FILE), logger: false })
const options = {
  every: '1s',
  limit: 1,
  guarantee: 'exactly-once',
  retry: { attempts: 2, backoff: { base: 100 } },
} as const

app.job('statements', options, async (run) => {
  const totals = await addUp() // what takes time comes before the transaction
  await run.transaction((tx) => {
    const insert = tx.prepare('insert into statements values (?, ?, ?)')
    for (const [customer, cents] of totals) insert.run(run.fire.dueAt, customer, cents)
    if (run.attempt === 1) throw new Error('out of paper')
  })
})
app.on('run.retried', ({ attempt }) => console.log(`attempt ${attempt} failed, ${count()} statements`))
app.on('fire.ended', ({ outcome, attempt }) => {
  console.log(`attempt ${attempt} ${outcome}, ${count()} statements`)
  void app.stop()
})

await app.start()

async function addUp(): Promise<[customer: string, cents: number][]> {
  return [
    ['Ada', 4_200],
    ['Grace', 1_700],
  ]
}

function count(): number {
  return shop.prepare('select * from statements').all().length
}

/* prints
attempt 1 failed, 0 statements
attempt 2 succeeded, 2 statements
*/

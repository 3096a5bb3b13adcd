import { existsSync } from 'node:fs'
import { webhook } from '../../src/alerts.ts'
import { cronce } from '../../src/app/cronce.ts'
import { surround } from '../../src/app/surroundings.ts'
import { sqlite } from '../../src/store/sqlite/sqlite.ts'

/** One process of a fleet that watches itself. Its jobs fail as long as the file exists. */
export interface WorkerOrder {
  readonly store: string
  readonly brokenFile: string
  readonly receiver: string
  readonly secret: string
  readonly gather: '2s' | '5s' | '30s'
}

const order = JSON.parse(process.argv[2]!) as WorkerOrder
const { store, brokenFile, receiver, secret, gather } = order
const app = cronce({
  store: surround(sqlite(store), { settings: { watchMs: 300 } }),
  app: 'shop',
  deployment: 'v1',
  logger: false,
  concurrency: 1_000,
  alerts: { channels: [webhook({ url: receiver, secret })], gather },
})
app.job('mail', {}, () => {
  if (existsSync(brokenFile)) throw new Error('no')
})
process.once('disconnect', () => process.exit())
app.on('alert.fired', ({ rule }) => process.send!({ type: 'fired', rule }))
await app.start()
process.send!({ type: 'started' })

/** One process of the soak: schedules that do little, and answers about its own memory. */
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import type { StoreModule } from '../chaos/stores/store.ts'
import type { Command, Order, OwnSample, Report } from './order.ts'

const { module, url, schedules, everyMs, leaseMs } = JSON.parse(process.argv[2]!) as Order
const { source } = (await import(module)) as StoreModule
const collect = (globalThis as { gc?: () => void }).gc!
let fires = 0

function sample(): OwnSample {
  collect()
  const { rss, heapUsed, external } = process.memoryUsage()
  const handles = process.getActiveResourcesInfo().length
  return { rss, heap: heapUsed, external, handles, files: readdirSync('/proc/self/fd').length, fires }
}

function tell(report: Report): void {
  if (process.connected) process.send!(report, () => {})
}

process.on('message', (command: Command) => {
  if (command.type === 'sample') return tell({ type: 'sampled', question: command.question, own: sample() })
  for (const end = performance.now() + command.ms; performance.now() < end; );
})
process.once('disconnect', () => process.exit())

const app = cronce<unknown>({
  ...{ store: source(url), app: 'soak', deployment: 'one', lease: leaseMs, drain: '1s' },
  ...{ concurrency: 50, logger: false },
})
for (let index = 0; index < schedules; index++) {
  // One in ten uses steps, progress and the log, which hold records of their own.
  const usesMore = index % 10 === 0
  app.job(`soak-${index}`, { every: everyMs }, async (run) => {
    fires++
    if (!usesMore) return
    await run.once('step', () => sleep(5, 'done'))
    run.progress(0.5)
    run.log('half of it is done')
    await sleep(20, undefined, { signal: run.signal })
  })
}
await app.start()
tell({ type: 'ready' })

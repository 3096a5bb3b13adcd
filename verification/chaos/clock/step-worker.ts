/**
 * A scheduler whose wall clock a test sets. Arguments: the store, and a file; runs end when that file exists. Writes a line to
 * standard output for every start, end and lost lease.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cronce } from '../../../packages/cronce/src/index.ts'

const [, , store, until = ''] = process.argv
const tell = (words: string): void => void process.stdout.write(`${words}\n`)
const wait = async (signal: AbortSignal): Promise<void> => {
  while (!existsSync(until)) await sleep(50, undefined, { signal })
}
const file = fileURLToPath(new URL('./step-task.ts', import.meta.url))

const app = cronce({ store, app: 'stepped', lease: '6s', drain: '1m', concurrency: 10, logger: false })
app.job('least', {}, (run) => wait(run.signal))
app.job('most', { guarantee: 'at-most-once' }, (run) => wait(run.signal))
app.job('steps', {}, async (run) => {
  await wait(run.signal)
  await run.once('charge', () => tell('charged'))
})
app.job('command', { command: 'while [ ! -e "$UNTIL" ]; do sleep 0.1; done', shell: true, env: { UNTIL: until } })
app.job('process', { file, isolate: 'process', input: { until } })
app.job('thread', { file, isolate: 'thread', input: { until } })
app.use(async (run, next) => {
  tell(`started ${run.fire.job} ${run.attempt}`)
  try {
    await next()
    tell(`returned ${run.fire.job}`)
  } catch (error) {
    tell(`threw ${run.fire.job} ${(error as { readonly code?: string }).code}`)
    throw error
  }
})
app.on('lease.lost', () => tell('lost'))
await app.start()
tell(`joined ${app.instance}`)

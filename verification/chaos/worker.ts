/** One process of the fleet: an application as users write it, that writes down what it does, and can be struck from inside. */
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunOfFire } from '../../packages/checker/src/history.ts'
import { cronce } from '../../packages/cronce/src/app/cronce.ts'
import { surround } from '../../packages/cronce/src/app/surroundings.ts'
import type { CronceEvent } from '../../packages/cronce/src/model/event.ts'
import type { Run } from '../../packages/cronce/src/run/run.ts'
import { ambusher } from './ambush.ts'
import { type ChaosJob, optionsOf } from './jobs.ts'
import { type Command, type Line, type Order, type Report, sinceOrigin } from './order.ts'
import { fractionOf, randomFrom } from './random.ts'
import type { StoreModule } from './stores/store.ts'
import { createVigil, VIGIL_MS } from './vigil.ts'

const { node, witness, origin, seed, store, leaseMs, starvedMs, deployment, jobs, ambush } = JSON.parse(
  process.argv[2]!,
) as Order
const { source, insert, isOneWriter } = (await import(store.module)) as StoreModule
const begin = BigInt(origin)
const file = openSync(witness, 'a')
const now = (): number => sinceOrigin(begin)
const write = (line: Line): void => void writeSync(file, `${JSON.stringify(line)}\n`)

function tell(report: Report): void {
  // With a callback: otherwise a closed channel to the parent would throw here.
  if (process.connected) process.send!(report, () => {})
}

const vigil = createVigil(starvedMs, (at, until) => write({ kind: 'healthy', at, until, node }))
vigil.alive(now())
setInterval(() => vigil.alive(now()), VIGIL_MS).unref()
process.on('exit', () => vigil.flush())

let strikes = 0
function note(fault: string, isForAll = false): () => void {
  const id = ++strikes
  write({ kind: 'struck', at: now(), fault, isForAll, id })
  tell({ type: 'struck' })
  return () => write({ kind: 'over', at: now(), id })
}

function block(ms: number): void {
  const end = now() + ms
  while (now() < end);
}

const inside = ambusher(randomFrom(seed), {
  note,
  block,
  kill: () => process.kill(process.pid, 'SIGKILL'),
  stop: () => process.kill(process.pid, 'SIGSTOP'),
})
inside.lie(ambush)

let stopWriting = false
let questions = 0
const answers = new Map<number, (accepted: boolean) => void>()

process.on('message', (command: Command) => {
  switch (command.type) {
    case 'ambush':
      return inside.lie(command.ambush)
    case 'lossy':
      inside.rate = command.rate
      return
    case 'stop-writing':
      stopWriting = command.wanted
      return
    case 'look':
      vigil.alive(now())
      vigil.flush()
      return tell({ type: 'looked' })
    case 'answered':
      answers.get(command.question)?.(command.accepted)
      answers.delete(command.question)
      return
    case 'block': {
      const over = note('block')
      block(command.ms)
      over()
    }
  }
})
process.once('disconnect', () => process.exit())

const CONCURRENCY = 20
const around = { sync: inside.sync, told: (event: CronceEvent) => tell({ type: 'event', event }) }
const app = cronce<unknown>({
  store: surround(inside.surrounding(source(store.url)), around),
  app: 'chaos',
  deployment,
  lease: leaseMs,
  drain: '1s',
  // So that a release of a few seconds retires what it does not declare.
  holdDown: '1s',
  retireAfter: '1s',
  concurrency: CONCURRENCY,
})

function runOf({ fire, attempt, token }: Run<unknown, unknown>): RunOfFire {
  return { schedule: fire.schedule, dueAt: fire.dueAt, nonce: fire.nonce, attempt, token: String(token) }
}

app.use(async (run, next) => {
  const about = { node, ...runOf(run) }
  write({ kind: 'start', at: now(), ...about })
  try {
    const result = await next()
    write({ kind: 'finish', at: now(), ...about, how: 'returned' })
    return result
  } catch (error) {
    write({ kind: 'finish', at: now(), ...about, how: 'threw' })
    throw error
  }
})

async function perform({ work }: ChaosJob, run: Run<unknown, unknown>): Promise<void> {
  const { schedule, dueAt } = run.fire
  const firstMs = work.fromMs + fractionOf(seed, schedule, dueAt, run.attempt) * (work.toMs - work.fromMs)
  const workMs = run.attempt === 1 ? firstMs : (work.againMs ?? firstMs)
  const spend = (part: number): Promise<void> =>
    sleep(workMs * part, undefined, work.isDeaf ? {} : { signal: run.signal })
  switch (work.does) {
    case 'wait':
      return spend(1)
    case 'fail':
      await spend(1)
      if (fractionOf('fails', schedule, dueAt, run.attempt) < 0.6) throw new Error('no mail server')
      return
    case 'present':
      await spend(0.5)
      await present(run)
      return spend(0.5)
    case 'steps':
      await step(run, 'first', () => spend(0.5))
      return step(run, 'second', () => spend(0.5))
    case 'pay':
      await spend(1)
      return pay(run)
  }
}

async function present(run: Run<unknown, unknown>): Promise<void> {
  const question = ++questions
  const answer = new Promise<boolean>((resolve) => answers.set(question, resolve))
  tell({ type: 'present', question, run: runOf(run) })
  if (!(await answer)) throw new Error('the resource knows a newer token')
}

async function step(run: Run<unknown, unknown>, name: string, work: () => Promise<void>): Promise<void> {
  let isOurs = false
  await run.once(name, async () => {
    await work()
    isOurs = true
    write({ kind: 'worked', at: now(), step: name, ...runOf(run) })
    return name
  })
  if (isOurs) write({ kind: 'kept', at: now(), step: name, ...runOf(run) })
}

async function pay(run: Run<unknown, unknown>): Promise<void> {
  write({ kind: 'writing', at: now(), ...runOf(run) })
  await run.transaction((tx) => {
    const inserted = insert(tx, { ...runOf(run), node, at: now() })
    return inserted instanceof Promise ? inserted.then(stopIfWanted) : stopIfWanted()
  })
}

/** Stops during a write. In a store with one writer, this blocks all other writers until the process resumes. */
function stopIfWanted(): void {
  if (!stopWriting) return
  stopWriting = false
  const over = note('stop in a transaction', isOneWriter)
  process.kill(process.pid, 'SIGSTOP')
  over()
}

const names = jobs.map(({ name }) => name)
for (const job of jobs) app.job(job.name, optionsOf(job), (run) => perform(job, run))
await app.start()
write({ kind: 'node', at: now(), node, what: 'ready', jobs: names, concurrency: CONCURRENCY })
tell({ type: 'ready' })

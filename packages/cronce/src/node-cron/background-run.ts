import type { Json, Jsonified } from '../model/json.ts'
import type { RunLog } from '../run/run.ts'
import { runInProcess } from '../target/isolate/process.ts'
import { ownProgram } from '../target/own-program.ts'
import type { TargetRun } from '../target/target-run.ts'
import type { BackgroundOrder } from './background-order.ts'
import type { ScheduledTask, TaskContext } from './task-types.ts'

const GRACE_MS = 10_000

/** Run what the file exports as `task`, in a process. What it prints is printed here, and kept with the run. */
export function runInBackground(
  file: string,
  task: ScheduledTask,
  context: TaskContext,
  run: TargetRun | null,
  kill: AbortSignal,
): Promise<unknown> {
  const { id, reason, startedAt } = context.execution!
  const order: BackgroundOrder = {
    ...{ file, date: context.date.getTime(), dateLocalIso: context.dateLocalIso },
    triggeredAt: context.triggeredAt.getTime(),
    task: { id: task.id, name: task.name ?? task.id, pattern: task.getPattern() },
    execution: { id, reason, startedAt: startedAt?.getTime() ?? null },
  }
  const input = order as unknown as Json
  const given = run === null ? invoked(order, kill) : { ...taken(run), signal: AbortSignal.any([run.signal, kill]) }
  const told = { ...given, fire: { ...given.fire, input }, log: printing(given.log) }
  return runInProcess(
    { file: ownProgram('background-main', import.meta.url), isolate: 'process', memoryMb: null },
    told,
  )
}

/** Its properties, some of which are getters. */
function taken(run: TargetRun): TargetRun {
  const { fire, attempt, token, instance, previous, once, idempotencyKey, progress, transaction, namespace } = run
  const { graceMs, isSingle, lease, signal, log } = run
  return {
    ...{ fire, attempt, token, instance, previous, once, idempotencyKey, progress, transaction, namespace },
    ...{ graceMs, isSingle, lease, signal, log },
  }
}

/** Of `execute()`: there is no fire, and nothing is kept. */
function invoked({ date, task, execution }: BackgroundOrder, signal: AbortSignal): TargetRun {
  const refused = (): never => {
    throw new Error('There is no transaction for what was invoked by execute().')
  }
  const silent = (): void => {}
  return {
    ...{ attempt: 1, token: 0n, instance: 'execute', namespace: 'execute', graceMs: GRACE_MS, isSingle: false, signal },
    lease: null,
    fire: { schedule: task.name, job: task.name, dueAt: date, nonce: execution.id, kind: 'manual', input: null },
    previous: { dueAt: null, succeededDueAt: null, succeededAt: null, sinceSuccessMs: null },
    // What the process has returned came here as JSON.
    once: async <Value>(_step: string, work: () => Value | Promise<Value>) => (await work()) as Jsonified<Value>,
    idempotencyKey: (step = '') => `${execution.id}${step}`,
    progress: silent,
    transaction: async () => refused(),
    log: Object.assign(silent, { debug: silent, info: silent, warn: silent, error: silent }),
  }
}

/** What a process of node-cron's prints is seen in the terminal. */
function printing(log: RunLog): RunLog {
  const print = (stream: NodeJS.WriteStream, keep: (line: string) => void) => (line: string) => {
    stream.write(`${line}\n`)
    keep(line)
  }
  return Object.assign((line: string) => log(line), {
    debug: (line: string) => log.debug(line),
    info: print(process.stdout, (line) => log.info(line)),
    warn: print(process.stderr, (line) => log.warn(line)),
    error: (line: string) => log.error(line),
  })
}

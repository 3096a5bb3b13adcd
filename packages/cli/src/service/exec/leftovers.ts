import { setTimeout as sleep } from 'node:timers/promises'
import type { Cronce, InstanceView, ScheduleView } from 'cronce'
import type { CommandRunner } from './exec-command.ts'
import { unlessSilent } from './exec-words.ts'

export interface LeftoverParts {
  readonly app: Cronce
  readonly runner: CommandRunner
  readonly name: string
  /** For how long a host is silent that is taken for gone. */
  readonly leaseMs: number
  readonly signal: AbortSignal
  readonly say: (text: string) => void
}

const LOOK_MS = 500
const SHORTEST_MS = 100
/** Longer than it takes to notice that a process is gone, where the store can tell; and to take over what it left. */
const LEFTOVER_MS = 2_000
/** Until a silent host is taken for gone: a lease that we have seen ourselves, less than two of them if it seemed idle. */
const LEASES = 2

/** A host that holds something open of this schedule, and whose lease has run out by the clock of the store. */
export async function silentHolder(app: Cronce, { open }: ScheduleView): Promise<InstanceView | null> {
  const holders = new Set(
    open.flatMap(({ instance }) => (instance === null || instance === app.instance ? [] : [instance])),
  )
  for (const id of holders) {
    const holder = await unlessSilent(app.instances.find(id))
    if (holder?.state === 'silent') return holder
  }
  return null
}

/**
 * What is open may be that of a host that has died. Where the store can tell, that is soon found out; otherwise only a process that has seen it
 * silent for a whole lease may say so. Then it runs here: no other host may come before the next due time.
 */
export async function awaitLeftovers(parts: LeftoverParts, schedule: ScheduleView): Promise<void> {
  const { app, name, runner, leaseMs, signal, say } = parts
  const goesOn = (): boolean => !runner.isRunning && !signal.aborted
  const longestMs = leaseMs * LEASES + LEFTOVER_MS
  const giveUpAt = performance.now() + longestMs
  let holder = await silentHolder(app, schedule)
  if (holder !== null) {
    const where = `${holder.host} (process ${holder.pid})`
    say(
      `${where}, which runs ${name}, is silent: if it is gone, what it left is run here. Waiting for up to ${longestMs / 1_000}s.`,
    )
  }
  while (holder !== null && goesOn() && performance.now() < giveUpAt) {
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
    const now = await unlessSilent(app.schedules.get(name))
    if (now !== null) holder = await silentHolder(app, now)
  }
  const leaveAt = performance.now() + LEFTOVER_MS
  while (goesOn() && performance.now() < leaveAt) await sleep(SHORTEST_MS, undefined, { signal }).catch(() => {})
  await runner.idle()
}

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet, Place } from './fleet.ts'
import type { Message } from './order.ts'
import { TARGET } from './schedules.ts'

/** What happens to the processes, in order. Each step waits for what it needs, so that a slow machine only takes longer. */
export interface Story {
  /** Whether all of it has happened. */
  readonly isDone: () => boolean
  readonly told: (message: Message, place: Place) => void
  readonly play: (plan: Plan, signal: AbortSignal) => Promise<void>
}

export type Tell = (kind: 'info' | 'fault' | 'good', what: string, detail: string) => void

interface Plan {
  /** Not before these. */
  readonly killAt: number
  readonly pauseAt: number
  readonly restartAfterMs: number
  readonly leaseMs: number
}

/** How long after its start a run counts as in progress. */
const MIDDLE_MS = 300
const LOOK_MS = 20

/** Who takes part, and what they have said so far. */
interface Cast {
  readonly fleet: Fleet
  readonly file: string
  readonly tell: Tell
  readonly messages: Heard[]
}

interface Heard {
  readonly message: Message
  readonly place: Place
  readonly at: number
}

export function createStory(fleet: Fleet, file: string, tell: Tell): Story {
  const cast: Cast = { fleet, file, tell, messages: [] }
  let isDone = false
  return {
    isDone: () => isDone,
    told: (message, place) => void cast.messages.push({ message, place, at: performance.now() }),
    async play(plan, signal) {
      const until: Wait = async (look) => {
        for (;;) {
          signal.throwIfAborted()
          const found = look()
          if (found !== null && found !== undefined) return found
          await sleep(LOOK_MS)
        }
      }
      await until(() => Date.now() >= plan.killAt || null)
      await kill(cast, plan, until)
      await until(() => Date.now() >= plan.pauseAt || null)
      await pause(cast, until)
      isDone = true
    },
  }
}

async function kill(cast: Cast, plan: Plan, until: Wait): Promise<void> {
  const { fleet, tell, messages } = cast
  const { place, run } = await until(() => inTheMiddle(fleet))
  const before = messages.length
  const [dead] = place.instances
  const killedAt = performance.now()
  fleet.signal(place, 'SIGKILL')
  place.status = 'killed -9'
  place.running.clear()
  tell('fault', 'killed -9', `${place.slot} (pid ${place.pid}), in the middle of ${nameOf(run)}`)
  const takeover = await until(() => successor(cast, before, run.dueAt, place))
  const died = messages
    .slice(before)
    .find(({ message }) => message.type === 'instance.died' && message.instance === dead)
  const isProbed = died?.message.type === 'instance.died' && died.message.by === 'probe'
  const why = isProbed ? `its lock was free; the lease is ${seconds(plan.leaseMs)}` : 'its lease had run out'
  tell('good', 'took over', `${takeover.place.slot}, after ${seconds(takeover.at - killedAt)}: ${why}`)
  await sleep(plan.restartAfterMs)
  fleet.start(place.slot)
  tell('info', 'restarted', `${place.slot} (pid ${place.pid})`)
  await until(() => place.status === 'live' || null)
}

async function pause(cast: Cast, until: Wait): Promise<void> {
  const { fleet, file, tell, messages } = cast
  const { place, run } = await until(() => pausable(fleet, file))
  const before = messages.length
  const [zombie] = place.instances
  place.status = 'paused'
  tell('fault', 'paused', `${place.slot} (pid ${place.pid}) by SIGSTOP, in the middle of ${nameOf(run)}`)
  const pausedAt = performance.now()
  const takeover = await until(() => successor(cast, before, run.dueAt, place))
  tell('good', 'took over', `${takeover.place.slot}, after ${seconds(takeover.at - pausedAt)}: its lease had run out`)
  fleet.signal(place, 'SIGCONT')
  tell('fault', 'woke up', `${place.slot} by SIGCONT: a zombie that believes it still has to pay`)
  const refused = await until(() => messages.find((one) => isRefusal(one.message, run.dueAt) && one.place === place))
  tell(
    'good',
    'refused',
    `${place.slot}'s payment (${refused.message.type === 'demo.refused' ? refused.message.code : ''})`,
  )
  const fenced = await until(() => messages.find((one) => isFenced(one.message, run.dueAt) && one.place === place))
  const token = fenced.message.type === 'run.fenced' ? fenced.message.token : ''
  tell('good', 'refused', `${place.slot}'s settlement: token ${token} is no longer current`)
  await until(() => (place.instances[0] !== zombie && place.status === 'live') || null)
  tell('info', 'rejoined', `${place.slot} under a new id`)
}

/** The start of this fire's next run, somewhere else. */
function successor({ messages }: Cast, from: number, dueAt: number, not: Place): Heard | undefined {
  return messages
    .slice(from)
    .find(
      ({ message, place }) =>
        place !== not && message.type === 'run.started' && message.schedule === TARGET && message.dueAt === dueAt,
    )
}

type Wait = <Found>(look: () => Found | null | undefined) => Promise<Found>

/** Never the same fire twice: from its second crash on it would wait for a process that runs nothing else. */
function inTheMiddle(fleet: Fleet) {
  for (const place of fleet.places) {
    const run = [...place.running.values()].find(({ schedule, attempt }) => schedule === TARGET && attempt === 1)
    if (place.status === 'live' && run !== undefined && performance.now() - run.since > MIDDLE_MS) return { place, run }
  }
  return null
}

/**
 * Stopped in the middle of a run, but not in the middle of a write: it would hold SQLite's one write lock, and all others
 * would wait for it. That is SQLite's nature; a server does not have it.
 */
function pausable(fleet: Fleet, file: string) {
  const found = inTheMiddle(fleet)
  if (found === null) return null
  fleet.signal(found.place, 'SIGSTOP')
  if (canWrite(file)) return found
  fleet.signal(found.place, 'SIGCONT')
  return null
}

/** Longer than any write of a process that is not stopped. */
const WRITE_MS = 200

function canWrite(file: string): boolean {
  const db = new DatabaseSync(file, { timeout: WRITE_MS })
  try {
    db.exec('begin immediate; rollback')
    return true
  } catch {
    return false
  } finally {
    db.close()
  }
}

function isRefusal(message: Message, dueAt: number): boolean {
  return message.type === 'demo.refused' && message.dueAt === dueAt
}

function isFenced(message: Message, dueAt: number): boolean {
  return message.type === 'run.fenced' && message.schedule === TARGET && message.dueAt === dueAt
}

function nameOf({ schedule, dueAt }: { readonly schedule: string; readonly dueAt: number }): string {
  return `${schedule} ${new Date(dueAt).toISOString().slice(14, 19)}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

import { expectedInput } from '../client/expected-rule.ts'
import { readName } from '../client/read-name.ts'
import { optionInvalid } from '../client/read-option.ts'
import { SLOT_JOB, SLOT_PREFIX } from '../model/exclusive-jobs.ts'
import { DEFAULT_POLICY } from '../model/policy.ts'
import type { Definition } from '../model/schedule.ts'
import type { TriggerData } from '../trigger/trigger.ts'

/** A slot of a task, as all processes of a fleet call it. */
export interface SlotKey {
  readonly name: string
  readonly dueAt: number
}

const NAME_LIMIT = 180
/** `2026-06-17T03:00:00.000Z`: a fixed length for every task name, so it is searched from the end. */
const SLOT_LENGTH = 24
const SLOT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const HOUR_MS = 3_600_000

/** node-cron's key: the name of the task, a colon, and the slot. The name may contain colons itself. */
export function parseKey(key: unknown): SlotKey {
  const text = typeof key === 'string' ? key : ''
  const slot = text.slice(-SLOT_LENGTH)
  const dueAt = SLOT.test(slot) ? Date.parse(slot) : Number.NaN
  if (Number.isNaN(dueAt) || text.at(-SLOT_LENGTH - 1) !== ':') {
    const hint = 'Give the coordinator to node-cron 4.6, which asks it: cron.setRunCoordinator(coordinator).'
    throw optionInvalid('key', key, 'a name, a colon, and a slot as ISO text', hint)
  }
  return { name: readName('task', text.slice(0, -SLOT_LENGTH - 1), NAME_LIMIT), dueAt }
}

/** Whether slots of this name can be asked for. */
export function isTaskName(name: unknown): name is string {
  try {
    return readName('task', name, NAME_LIMIT) === name
  } catch {
    return false
  }
}

export function keyOf({ name, dueAt }: SlotKey): string {
  return `${name}:${new Date(dueAt).toISOString()}`
}

/** What is on record about a task. */
export function scheduleOf(name: string): string {
  return SLOT_PREFIX + name
}

/** What a coordinator knows about the slots of a task. */
export interface SlotRule {
  /** No two slots run at the same time in the fleet. */
  readonly isExclusive: boolean
  /** When node-cron should ask; `null`: it is not known. */
  readonly expected: TriggerData | null
}

/** More slots at a time than a schedule may have open. */
const UNLIMITED = 1_000

/**
 * Without a trigger, for a job that no instance has: node-cron says when a slot has come, and runs it. At most once, since it does not
 * ask a second time.
 */
export function slotDefinition({ isExclusive, expected }: SlotRule): Definition {
  return {
    job: SLOT_JOB,
    trigger: null,
    input: expectedInput(expected) ?? null,
    policy: {
      guarantee: 'at-most-once',
      // Not enforced by it, but read by `cronce fires --verify`.
      overlap: isExclusive ? DEFAULT_POLICY.overlap : { kind: 'allow', limit: UNLIMITED },
      // A process that asks for an older slot has a clock that is far behind. Records are kept at least a day longer than this.
      misfire: { ...DEFAULT_POLICY.misfire, windowMs: HOUR_MS },
    },
    start: null,
    end: null,
    limit: null,
    tenant: null,
  }
}

import type { InstanceRecord } from '../../model/instance.ts'
import type { Instant } from '../../model/schedule.ts'
import {
  type Beat,
  type BeatAnswer,
  type Chores,
  type Claimant,
  ENDED_SHOWN,
  type HeldRun,
  type InstanceMark,
  type InstanceQuery,
} from '../store.ts'
import type { StoredInstance } from './data.ts'
import { isPrunable } from './prune.ts'
import { ascend, compareText } from './sorted.ts'
import { type Space, setInstance } from './space.ts'

export function beat(space: Space, now: Instant, given: Beat, lost: boolean): BeatAnswer {
  const alive = takeBeat(space, now, given)
  clampLeases(space, now)
  const known = space.data.instances.get(given.instance.id)
  return {
    alive,
    number: known === undefined || (known.goneAt !== null && !alive) ? null : known.beat,
    now,
    epoch: space.epoch,
    lost,
    held: alive ? heldBy(space, given.instance.id) : [],
    instances: [...ascend(space.present)].map((id) => view(space.data.instances.get(id)!, now)),
    chores: choresFor(space, now, given.instance.app),
  }
}

function choresFor(space: Space, now: Instant, app: string): Chores {
  const { data, records } = space
  const isOver = (id: string): boolean => typeof data.instances.get(id)?.goneAt === 'number'
  return {
    appVersion: data.apps.get(app)?.version ?? 0,
    orphans: [...records.held.keys()].filter(isOver).sort(compareText),
    prunable: isPrunable(space, now),
  }
}

function takeBeat(space: Space, now: Instant, { instance, join, leaseMs, sequence }: Beat): boolean {
  const known = space.data.instances.get(instance.id)
  // A repeated joining heartbeat of a live instance: the answer to the first was lost.
  if (known === undefined ? !join : known.goneAt !== null) return false
  if (known !== undefined && !join && !follows(sequence, known.beat)) return false
  setInstance(space, instance.id, {
    record: {
      ...instance,
      startedAt: known?.record.startedAt ?? now,
      renewals: known === undefined ? 0 : known.record.renewals + 1,
      renewedAt: now,
      drain: known?.record.drain ?? false,
      expired: false,
    },
    beat: Math.max(sequence?.number ?? 0, known?.beat ?? 0),
    leaseMs,
    leaseUntil: now + leaseMs,
    goneAt: instance.state === 'left' ? now : null,
  })
  return true
}

/** A cloned machine repeats the numbers of its original. */
function follows(sequence: Beat['sequence'], last: number): boolean {
  return sequence === undefined || (sequence.after <= last && last < sequence.number)
}

/** Part of every claim: false if this instance has ended. An expired lease is renewed like any other. */
export function renew(space: Space, now: Instant, { instance, leaseMs }: Claimant): boolean {
  const known = space.data.instances.get(instance)
  if (known === undefined || known.goneAt !== null) return false
  const record = { ...known.record, renewals: known.record.renewals + 1, renewedAt: now }
  setInstance(space, instance, { ...known, record, leaseMs, leaseUntil: now + leaseMs })
  return true
}

/** If the clock was set back, a lease may seem to end hours from now. It ends, at the latest, as if it were renewed now. */
function clampLeases(space: Space, now: Instant): void {
  for (const id of ascend(space.present)) {
    const known = space.data.instances.get(id)!
    if (known.leaseUntil > now + known.leaseMs) setInstance(space, id, { ...known, leaseUntil: now + known.leaseMs })
  }
}

export function mark(space: Space, now: Instant, mark: InstanceMark): boolean {
  clampLeases(space, now)
  const known = space.data.instances.get(mark.instance)
  if (known === undefined || known.goneAt !== null) return mark.kind === 'dead' && known?.record.state === 'dead'
  const { record } = known
  if (mark.kind === 'drain') setInstance(space, record.id, { ...known, record: { ...record, drain: mark.drain } })
  else if (record.renewals !== mark.renewals || !(mark.hint || isExpired(known, now))) return false
  else setInstance(space, record.id, { ...known, record: { ...record, state: 'dead' }, goneAt: now })
  return true
}

export function listInstances(space: Space, now: Instant, query: InstanceQuery = {}): InstanceRecord[] {
  const { ids, app } = query
  return (ids === undefined ? present(space, query) : [...new Set(ids)].flatMap((id) => find(space, id)))
    .filter(({ record }) => app === undefined || record.app === app)
    .map((known) => view(known, now))
    .sort((one, other) => compareText(one.id, other.id))
}

function present(space: Space, { app, ended = ENDED_SHOWN }: InstanceQuery): StoredInstance[] {
  const idle: StoredInstance[] = []
  const others: StoredInstance[] = []
  for (const known of space.data.instances.values()) {
    const isIdle = known.goneAt !== null && !space.records.held.has(known.record.id)
    if (!isIdle) others.push(known)
    else if (app === undefined || known.record.app === app) idle.push(known)
  }
  return [...others, ...idle.sort((one, other) => other.goneAt! - one.goneAt!).slice(0, ended)]
}

function find(space: Space, id: string): StoredInstance[] {
  const known = space.data.instances.get(id)
  return known === undefined ? [] : [known]
}

function heldBy({ records }: Space, instance: string): HeldRun[] {
  return [...(records.held.get(instance) ?? [])].sort(records.fires.compare).map(({ schedule, open }) => {
    const { token, claim, cancel } = open!.run!
    return { schedule, token, claim, cancel }
  })
}

function view(known: StoredInstance, now: Instant): InstanceRecord {
  return { ...known.record, endedAt: known.goneAt, expired: isExpired(known, now) }
}

export function isExpired({ leaseUntil }: StoredInstance, now: Instant): boolean {
  return leaseUntil <= now
}

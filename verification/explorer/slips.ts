import type { Decision } from '../../packages/cronce/src/policy/decision.ts'
import type { NamespaceData } from '../../packages/cronce/src/store/memory/data.ts'
import type { MemorySource } from '../../packages/cronce/src/store/memory/memory.ts'
import { OURS, type Protocol } from './fleet.ts'
import type { INVARIANTS } from './invariants.ts'
import type { ModelName } from './models.ts'
import { type FaultKind, SCHEDULE, TICK_MS } from './state.ts'
import type { MemoryStore } from './store-at.ts'

/** A protocol with one thing wrong, and what is broken by it: the explorer must find out. */
export interface Slip {
  readonly name: string
  readonly model: ModelName
  readonly ticks: number
  /** Only as many faults as it takes: the way there is long. */
  readonly faults?: Partial<Record<FaultKind, number>>
  readonly breaks: keyof typeof INVARIANTS
  /** Moves on the shortest way there that the search walks. */
  readonly moves: number
  readonly broken: Partial<Protocol>
}

type Disguise = (store: MemoryStore, space: () => NamespaceData, source: MemorySource) => Partial<MemoryStore>

/** The same store, but for these methods. */
function disguised(other: Disguise): Pick<Protocol, 'disguise'> {
  return {
    disguise(store: MemoryStore, source: MemorySource) {
      const methods = other(store, () => source.data.namespaces.get('default')!, source)
      return Object.assign(Object.create(store) as MemoryStore, methods)
    },
  }
}

function engine(rules: Partial<Protocol['engine']>): Pick<Protocol, 'engine'> {
  return { engine: { ...OURS.engine, ...rules } }
}

function changed(decision: Decision | null, change: Partial<Decision['change']>): Decision | null {
  return decision && { ...decision, change: { ...decision.change, ...change } }
}

export const SLIPS: readonly Slip[] = [
  {
    name: 'a change is written whatever the version',
    ...{ model: 'one-fire', ticks: 3, breaks: 'S3', moves: 10, faults: { silence: 1 } },
    broken: disguised((store, space) => ({
      apply(changes, options) {
        const current = (id: string): number => space().schedules.get(id)?.version ?? 0
        return store.apply(
          changes.map((change) => ({ ...change, version: current(change.id) })),
          options,
        )
      },
    })),
  },
  {
    name: 'an instance is declared dead although it has renewed',
    ...{ model: 'one-fire', ticks: 5, breaks: 'S3', moves: 7 },
    broken: disguised((store, space) => ({
      mark({ instance }) {
        const { renewals } = space().instances.get(instance)!.record
        return store.mark({ kind: 'dead', instance, renewals, hint: true })
      },
    })),
  },
  {
    name: 'a run is settled by its former holder, not by its token',
    ...{ model: 'one-fire', ticks: 4, breaks: 'S3', moves: 14, faults: {} },
    broken: {
      settle(state, settlement, context) {
        const token = state.open.find(({ run }) => run !== null)?.run?.token ?? settlement.token
        return OURS.settle(state, { ...settlement, token }, context)
      },
    },
  },
  {
    name: 'a step of unknown end is begun again',
    ...{ model: 'one-fire', ticks: 4, breaks: 'S6', moves: 15, faults: {} },
    broken: disguised((store) => ({
      step: (command) => store.step(command.kind === 'begin' ? { ...command, rerun: true } : command),
    })),
  },
  {
    name: 'what is held by the living is recovered',
    ...{ model: 'one-fire', ticks: 5, breaks: 'S3', moves: 7 },
    broken: engine({ recoversOnlyFromTheDead: false }),
  },
  {
    name: 'a handler is called without a look at the lease',
    ...{ model: 'one-fire', ticks: 5, breaks: 'S1', moves: 6 },
    broken: engine({ trustsOnlyItsLease: false }),
  },
  {
    name: 'what is held without being known is kept',
    ...{ model: 'at-most-once', ticks: 3, breaks: 'L1', moves: 3 },
    broken: engine({ handsBackWhatItDoesNotKnow: false }),
  },
  {
    name: 'a transaction without an answer is looked for, and not fenced first',
    ...{ model: 'transaction', ticks: 3, breaks: 'S6', moves: 8 },
    broken: engine({ fencesBeforeItLooks: false }),
  },
  {
    name: 'the dead renew',
    ...{ model: 'one-fire', ticks: 5, breaks: 'S4', moves: 8 },
    broken: disguised((store, space) => ({
      beat(beat) {
        const known = space().instances.get(beat.instance.id)
        if (known !== undefined) space().instances.set(beat.instance.id, { ...known, goneAt: null })
        return store.beat(beat)
      },
    })),
  },
  {
    name: 'the dead claim',
    ...{ model: 'one-fire', ticks: 5, breaks: 'S3', moves: 7 },
    broken: disguised((store) => ({ apply: (changes) => store.apply(changes) })),
  },
  {
    name: 'a fire starts whatever else is active',
    ...{ model: 'queue', ticks: 4, breaks: 'S10', moves: 6 },
    broken: {
      advance(state, context, claimant, existing) {
        const policy = { ...state.definition.policy, overlap: { kind: 'allow', limit: 2 } as const }
        return OURS.advance({ ...state, definition: { ...state.definition, policy } }, context, claimant, existing)
      },
    },
  },
  {
    name: 'the counter of what was removed is forgotten',
    ...{ model: 'change', ticks: 2, breaks: 'S2', moves: 11, faults: {} },
    broken: disguised((store, space) => ({
      async apply(changes, options) {
        const applied = await store.apply(changes, options)
        space().floor = 0
        return applied
      },
    })),
  },
  {
    name: 'what is on record is created again',
    ...{ model: 'change', ticks: 2, breaks: 'S5', moves: 8, faults: {} },
    broken: disguised((store) => ({
      apply: (changes, options) =>
        store.apply(
          changes.map((change) => ({ ...change, creates: [] })),
          options,
        ),
    })),
  },
  {
    name: 'the mark moves without a record',
    ...{ model: 'skip', ticks: 3, breaks: 'S13', moves: 6 },
    broken: {
      advance(state, ...rest) {
        const decision = OURS.advance(state, ...rest)
        return changed(decision, { history: decision?.change.history.filter(({ run }) => run !== null) ?? [] })
      },
    },
  },
  {
    name: 'what is paused starts',
    ...{ model: 'change', ticks: 3, breaks: 'S9', moves: 5 },
    broken: disguised((store) => ({
      async due() {
        const { schedules, ...read } = await store.load([SCHEDULE])
        const going = schedules.map((state) => ({ ...state, pause: null }))
        return { ...read, schedules: going, mineAt: null, othersAt: null }
      },
    })),
  },
  {
    name: 'what was decided in an earlier epoch is written',
    ...{ model: 'failover', ticks: 2, breaks: 'S2', moves: 7 },
    broken: disguised((store, _, source) => ({
      apply(changes, options) {
        const { epoch } = source.data
        return store.apply(
          changes.map((change) => ({ ...change, epoch })),
          options,
        )
      },
    })),
  },
  {
    name: 'what is to come is claimed by a clock that is ahead',
    ...{ model: 'one-fire', ticks: 2, breaks: 'S8', moves: 2 },
    broken: {
      ...disguised((store) => ({
        async due() {
          return { ...(await store.load([SCHEDULE])), mineAt: null, othersAt: null }
        },
      })),
      advance(state, context, ...rest) {
        const ahead = { ...context, now: context.now + TICK_MS }
        return changed(OURS.advance(state, ahead, ...rest), { notBefore: null })
      },
    },
  },
  {
    name: 'what must not run twice runs again after a crash',
    ...{ model: 'at-most-once', ticks: 4, breaks: 'S11', moves: 13, faults: {} },
    broken: {
      recover(state, token, context) {
        const definition = { ...state.definition, policy: {} }
        return OURS.recover({ ...state, definition }, token, context)
      },
    },
  },
]

import { define } from '../../../packages/cronce/src/policy/operate/define.ts'
import { emptyNamespace } from '../../../packages/cronce/src/store/memory/data.ts'
import type { Model } from '../explore.ts'
import { SCHEDULE } from '../state.ts'
import { storeAt } from '../store-at.ts'
import { type AheadFleet, type AheadOptions, type AheadRules, contextOf, OUR_RULES } from './fleet.ts'
import { identityOf } from './identity.ts'
import { join, NEWCOMER } from './membership.ts'
import { isOver, movesOf } from './moves.ts'
import { DEFINITION } from './policy.ts'
import { type AheadFault, type AheadState, clockOf, FIRST_MS, MOMENT_MS, NO_FAULTS } from './state.ts'

export const AHEAD_INVARIANTS = {
  A1: "no run starts before its due time by the store's clock, unless that was set back after the bound was taken",
  A2: 'no attempt starts twice',
  A3: "a run that was put back without a trace never starts, unless the store's clock was set back after the bound was taken",
  A4: 'a run does not start after its holder has heard that it was cancelled or taken away',
  A5: 'no run starts whose instance a peer has declared dead',
  L1: 'without further faults the fire ends',
} as const

const BASE: AheadOptions = { workers: 2, moments: 6, leaps: 0, faults: NO_FAULTS, stepMs: 300, excused: ['A1', 'A3'] }

/** Sizes are those of a long run, which goes through all states of each; tests ask for less. */
export const AHEAD_MODELS = {
  /** A worker crashes, and an answer is lost. */
  'ahead-crash': { ...BASE, faults: { ...NO_FAULTS, crash: 1, silence: 1 } },
  /** A live worker is taken for dead, and a worker crashes. */
  'ahead-hint': { ...BASE, faults: { ...NO_FAULTS, crash: 1, hint: 1 } },
  /** A live worker is taken for dead, and an answer is lost. */
  'ahead-silence': { ...BASE, moments: 5, faults: { ...NO_FAULTS, silence: 1, hint: 1 } },
  /** Workers are declared dead by their lease. */
  'ahead-lease': { ...BASE, moments: 3, leaps: 1, faults: { ...NO_FAULTS, crash: 1 } },
  'ahead-hand-back': { ...BASE, moments: 5, faults: { ...NO_FAULTS, stop: 1, silence: 1 } },
  'ahead-cancel': { ...BASE, moments: 5, faults: { ...NO_FAULTS, cancel: 1, hint: 1 } },
  'ahead-clock-back': { ...BASE, faults: { ...NO_FAULTS, crash: 1, back: 1 } },
  'ahead-clock-back-hint': { ...BASE, moments: 5, faults: { ...NO_FAULTS, hint: 1, back: 1 } },
  'ahead-clock-forward': { ...BASE, faults: { ...NO_FAULTS, crash: 1, forward: 1 } },
} as const satisfies Record<string, AheadOptions>

export type AheadModelName = keyof typeof AHEAD_MODELS

export interface AheadSize {
  readonly workers?: number | undefined
  readonly moments?: number | undefined
  readonly leaps?: number | undefined
  readonly excused?: AheadOptions['excused'] | undefined
  /** Instead of the model's own. */
  readonly faults?: Partial<Record<AheadFault, number>> | undefined
}

/** `broken`: rules that are not kept. */
export function aheadModel(
  name: AheadModelName,
  size: AheadSize = {},
  broken: Partial<AheadRules> = {},
): Model<AheadState> {
  const given: AheadOptions = AHEAD_MODELS[name]
  const { workers = given.workers, moments = given.moments, leaps = given.leaps, excused = given.excused } = size
  const faults = size.faults === undefined ? given.faults : { ...NO_FAULTS, ...size.faults }
  const options = { ...given, workers, moments, leaps, excused, faults }
  const rules = { ...OUR_RULES, ...broken }
  const ending = new Set<string>()
  let fleet: AheadFleet
  return {
    name,
    async initial() {
      fleet = { options, rules, at: await storeAt((store) => store, 1) }
      return begin(fleet)
    },
    identity: identityOf,
    moves: (state) => movesOf(fleet, state),
    judge: (_, after) => after.witness.broken,
    stuck: (state) => findStuck(fleet, state, ending),
  }
}

async function begin(fleet: AheadFleet): Promise<AheadState> {
  const worker = { ...NEWCOMER, incarnation: 0, renewal: { sentAt: 0, now: FIRST_MS } }
  let state: AheadState = {
    ...{ time: 0, leaps: 0, offset: 0, messages: [], faults: NO_FAULTS },
    store: { epoch: 1, space: emptyNamespace(), effects: new Map() },
    workers: Array.from({ length: fleet.options.workers }, () => worker),
    witness: { starts: [], putBack: [], renewedAt: new Map(), broken: null },
  }
  const wanted = { definition: DEFINITION, source: { kind: 'client' } as const }
  const made = define(null, SCHEDULE, wanted, contextOf(state))
  if (made === null || 'refused' in made) throw new Error('The schedule of a model can be made.')
  const { snapshot } = await fleet.at.write(state.store, clockOf(state), (store) => store.apply([made.change]))
  state = { ...state, store: snapshot }
  for (const index of state.workers.keys()) state = await join(fleet, state, index, 0)
  const renewedAt = new Map([...state.store.space.instances.keys()].map((id) => [id, 0]))
  return { ...state, witness: { ...state.witness, renewedAt } }
}

const MOST_MOVES = 600

/** As `findStuck` in `ends.ts`: one way to the end is enough. */
async function findStuck(fleet: AheadFleet, from: AheadState, known: Set<string>): Promise<string | null> {
  const endless = { ...fleet, options: { ...fleet.options, moments: from.time / MOMENT_MS + MOST_MOVES } }
  const seen = new Set<string>([identityOf(from)])
  let state: AheadState | null = from
  for (let count = 0; state !== null && count < MOST_MOVES; count++) {
    if (isOver(state) || known.has(identityOf(state))) {
      for (const identity of seen) known.add(identity)
      return null
    }
    state = await firstNew(endless, state, seen)
  }
  return 'L1: nothing more can happen, and the fire has not ended'
}

async function firstNew(fleet: AheadFleet, state: AheadState, seen: Set<string>): Promise<AheadState | null> {
  for (const { isFault, make } of await movesOf(fleet, state)) {
    if (isFault) continue
    const next = await make()
    const identity = identityOf(next)
    if (seen.has(identity)) continue
    seen.add(identity)
    return next
  }
  return null
}

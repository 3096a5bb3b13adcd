import type { PolicyChoices } from '../../packages/cronce/src/model/policy.ts'
import type { Definition } from '../../packages/cronce/src/model/schedule.ts'
import { define } from '../../packages/cronce/src/policy/operate/define.ts'
import { emptyNamespace } from '../../packages/cronce/src/store/memory/data.ts'
import { findStuck } from './ends.ts'
import type { Model } from './explore.ts'
import { contextOf, type Fleet, type FleetOptions, OURS, type Protocol } from './fleet.ts'
import { identityOf } from './identity.ts'
import { judgeFleet } from './invariants.ts'
import { join, NEWCOMER } from './membership.ts'
import { movesOf } from './moves.ts'
import { NO_OPERATOR } from './operator.ts'
import { JOB, type Operator, SCHEDULE, type State, TICK_MS } from './state.ts'
import { storeAt } from './store-at.ts'

export interface ModelSize {
  readonly workers?: number | undefined
  readonly ticks?: number | undefined
  /** Instead of the model's own. */
  readonly faults?: Partial<FleetOptions['faults']> | undefined
}

const NO_FAULTS = { crash: 0, silence: 0, duplicate: 0, failover: 0 }

/** Due at these ticks, each a tick after the other. */
function every(instants: readonly number[], policy: PolicyChoices = {}): Pick<FleetOptions, 'definition' | 'instants'> {
  const definition: Definition = {
    job: JOB,
    trigger: { kind: 'every', everyMs: TICK_MS, anchor: 0 },
    input: null,
    policy,
    start: instants[0]! * TICK_MS,
    end: (instants.at(-1)! + 1) * TICK_MS,
    limit: null,
    tenant: null,
  }
  return { definition, instants }
}

const BASE: FleetOptions = {
  workers: 2,
  ticks: 6,
  handler: 'plain',
  faults: NO_FAULTS,
  scripts: [],
  movesEpoch: true,
  ...every([1]),
}

const SKIP = { overlap: { kind: 'skip', limit: 1 } } as const
const QUEUE = { overlap: { kind: 'queue', limit: 1 } } as const

/** Sizes are those of a long run; tests ask for less. */
export const MODELS = {
  /** One fire with a durable step; workers crash, answers are lost, messages come twice. */
  'one-fire': { ...BASE, handler: 'step', ticks: 5, faults: { ...NO_FAULTS, crash: 1, silence: 1 } },
  'at-most-once': {
    ...BASE,
    ...every([1], { guarantee: 'at-most-once' }),
    ticks: 4,
    faults: { ...NO_FAULTS, crash: 1, silence: 1, duplicate: 1 },
  },
  skip: { ...BASE, ...every([1, 2], SKIP), ticks: 4, faults: { ...NO_FAULTS, crash: 1, silence: 1 } },
  queue: { ...BASE, ...every([1, 2], QUEUE), ticks: 4, faults: { ...NO_FAULTS, crash: 1, silence: 1 } },
  change: {
    ...BASE,
    ...every([1, 2]),
    ticks: 3,
    faults: { ...NO_FAULTS, silence: 1 },
    scripts: [
      ['pause', 'resume'],
      ['redefine', 'pause'],
      ['remove', 'create'],
    ],
  },
  transaction: {
    ...BASE,
    ...every([1], { guarantee: 'exactly-once' }),
    ticks: 4,
    handler: 'transaction',
    faults: { ...NO_FAULTS, crash: 1, silence: 2 },
  },
  failover: { ...BASE, ticks: 4, faults: { ...NO_FAULTS, failover: 1 } },
  'failover-without-epoch': { ...BASE, ticks: 4, movesEpoch: false, faults: { ...NO_FAULTS, failover: 1 } },
} as const satisfies Record<string, FleetOptions>

export type ModelName = keyof typeof MODELS

/** `broken`: what is done otherwise than we do it. `ignore`: invariants that are known to be broken, and not looked for. */
export function fleetModel(
  name: ModelName,
  size: ModelSize = {},
  broken: Partial<Protocol> = {},
  ignore: readonly string[] = [],
): Model<State> {
  const given: FleetOptions = MODELS[name]
  const { workers = given.workers, ticks = given.ticks } = size
  const faults = size.faults === undefined ? given.faults : { ...NO_FAULTS, ...size.faults }
  const options = { ...given, workers, ticks, faults }
  const protocol = { ...OURS, ...broken }
  const ending = new Set<string>()
  let fleet: Fleet
  return {
    name,
    async initial() {
      fleet = { options, protocol, at: await storeAt(protocol.disguise) }
      return begin(fleet)
    },
    identity: (state) => identityOf(options, state),
    moves: (state) => (state.operator === CHOOSING ? choices(options, state) : movesOf(fleet, state)),
    judge: (before, after) => judgeFleet(options, before, after, ignore),
    stuck: (state) => (state.operator === CHOOSING ? Promise.resolve(null) : findStuck(fleet, state, ending)),
  }
}

const CHOOSING: Operator = { script: [], acknowledged: null }

function choices({ scripts }: FleetOptions, state: State) {
  return scripts.map((script) => ({
    words: `the operator is going to ${script.join(', then ')}`,
    isFault: false,
    make: () => ({ ...state, operator: { script, acknowledged: null } }),
  }))
}

/** The schedule is there, and all workers have joined. */
async function begin(fleet: Fleet): Promise<State> {
  const { options, at } = fleet
  const worker = { ...NEWCOMER, incarnation: 0, trustedUntil: 0 }
  let state: State = {
    now: 0,
    store: { epoch: 1, space: emptyNamespace(), effects: new Map() },
    workers: Array.from({ length: options.workers }, () => worker),
    messages: [],
    operator: options.scripts.length > 0 ? CHOOSING : NO_OPERATOR,
    faults: NO_FAULTS,
    witness: { worked: 0, called: 0, told: new Map(), highest: '0', settled: [], broken: null },
    copy: null,
  }
  const wanted = { definition: options.definition, source: { kind: 'client' } as const }
  const made = define(null, SCHEDULE, wanted, contextOf(state))
  if (made === null || 'refused' in made) throw new Error('The schedule of a model can be made.')
  const { snapshot } = await at.write(state.store, 0, (store) => store.apply([made.change]))
  state = { ...state, store: snapshot }
  for (const index of state.workers.keys()) state = await join(fleet, state, index, worker)
  return state
}

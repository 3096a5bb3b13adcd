import type { Instant, Spec, Time } from '../../packages/checker/src/history.ts'
import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'

/**
 * The input of a simulation: plain data, drawn from a seed before it runs. Actions are independent, so that a failing
 * scenario can be repeated with fewer of them.
 */
export interface Scenario {
  readonly format: 1
  /** Of what is decided on the way: latencies, and what handlers do. */
  readonly seed: number
  readonly kind: 'seconds' | 'days'
  readonly epoch: Instant
  readonly leaseMs: number
  readonly holdDownMs: number
  readonly drainMs: number
  /** The longest way to the store or back, while nothing is wrong. */
  readonly latencyMs: number
  readonly nodes: readonly NodePlan[]
  /** What the code declares, release by release; all begin with the first one. */
  readonly releases: readonly Release[]
  /** What an operator makes at the beginning. */
  readonly created: Readonly<Record<string, Plan>>
  /** What the handlers of a schedule's fires do. */
  readonly work: Readonly<Record<string, Work>>
  /** Faults end here, and everything is well again. */
  readonly faultsMs: Time
  readonly calmMs: Time
  readonly actions: readonly Action[]
  /** How long before their due time fires are claimed. The store then notices processes that have ended. @default 0 */
  readonly claimAheadMs?: number
  /** How long settlements are gathered. @default 0 */
  readonly settleDelayMs?: number
  readonly feeds?: readonly FeedPlan[]
  /** The fleet watches itself, and sends alerts. */
  readonly alerts?: AlertPlan | undefined
}

export interface AlertPlan {
  /** Between two looks. */
  readonly everyMs: number
  readonly gatherMs: number
  /** How long the receiver takes for a message. */
  readonly takesMs: number
  /** When the receiver takes none. */
  readonly down: { readonly from: Time; readonly to: Time } | null
}

/** A reader of the feed, from some moment on, over a connection on which each call has this chance to fail. */
export interface FeedPlan {
  readonly at: Time
  readonly intervalMs: number
  readonly fault: LinkFault
  readonly rate: number
  readonly slowMs: number
}

export interface NodePlan {
  readonly skewMs: number
  /** Runs at a time. */
  readonly concurrency: number
  readonly rate: number
  /** With `host`; none given: it has none but its own name. */
  readonly labels?: Labels
  /** The release that it starts with. @default the first one */
  readonly release?: number
}

/** The app of every release that names none. */
export const DEFAULT_APP = 'shop'

export interface Release {
  readonly id: string
  /** Its processes give no deployment id. */
  readonly isImplicit?: boolean
  /** The app that its processes belong to. @default DEFAULT_APP */
  readonly app?: string
  /** Jobs, each with the schedule of its name. */
  readonly jobs: Readonly<Record<string, Plan>>
}

/** A schedule as it is judged, and settings that do not matter to the judge. */
export interface Plan {
  readonly spec: Spec
  readonly jitterKind: 'fixed' | 'random'
  readonly backoffMs: number
  readonly unknownStep: 'fail' | 'rerun'
  /** Of retention by number. */
  readonly count: number
  /** The name that the job had in the release before. */
  readonly was?: string
  /** The labels that a process must have to run it. The same in all releases. */
  readonly on?: Readonly<Record<string, readonly string[]>>
  /** It has a schedule on each host. */
  readonly isOnEachHost?: boolean
}

export type Labels = { readonly host: string; readonly role?: string }

export function isFor(on: Plan['on'], labels: Labels | undefined): boolean {
  const values: Readonly<Record<string, string>> = { ...labels }
  return Object.entries(on ?? {}).every(([label, allowed]) => allowed.includes(values[label]!))
}

/** The plan of a schedule, which may be that of one host. */
export function planIn({ jobs }: Release, schedule: string): Plan | undefined {
  const own = jobs[schedule]
  if (own !== undefined) return own.isOnEachHost === true ? undefined : own
  const plan = jobs[schedule.slice(0, Math.max(0, schedule.indexOf('@')))]
  return plan?.isOnEachHost === true ? { ...plan, spec: { ...plan.spec, job: schedule } } : undefined
}

/** Names of the jobs that a process of this release with these labels can run. */
export function jobsOf({ jobs }: Release, { labels }: Pick<NodePlan, 'labels'>): readonly string[] {
  return Object.entries(jobs).flatMap(([name, { on, isOnEachHost }]) => {
    if (!isFor(on, labels)) return []
    return isOnEachHost === true ? [name, `${name}@${labels?.host}`] : [name]
  })
}

/** Rates are from 0 to 1, each for itself. */
export interface Work {
  readonly leastMs: number
  readonly mostMs: number
  readonly throws: number
  /** Of those that throw: not worth a retry. */
  readonly fatal: number
  readonly ignoresSignal: number
  readonly blocks: number
  readonly blockMs: number
  readonly steps: number
  /** Of fires that need not have one. */
  readonly transacts: number
  readonly tells: number
}

/** `by`: what an operator asks for is asked by a second one, over a connection of its own. */
export type Action = { readonly at: Time; readonly by?: 'colleague' | undefined } & (
  | ProcessAction
  | ClockAction
  | LinkAction
  | OperatorAction
)

export type ProcessAction =
  /** At once; at the so-manieth thing delivered; or when it gets there. */
  | {
      readonly kind: 'crash'
      readonly node: number
      readonly deliveries: number | null
      readonly point: SyncPoint | null
      readonly downMs: number
    }
  /** At once, or when it gets there. */
  | {
      readonly kind: 'pause'
      readonly node: number
      readonly point: SyncPoint | null
      readonly forMs: number
      readonly how: 'stopped' | 'suspended'
    }
  | { readonly kind: 'block'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'stop'; readonly node: number; readonly downMs: number }
  /** Stops, and comes back as this release. */
  | { readonly kind: 'deploy'; readonly node: number; readonly release: number; readonly downMs: number }
  /** The process ends, and its place stays empty, also after all faults, until a process appears there. */
  | { readonly kind: 'vanish'; readonly node: number; readonly how: 'stop' | 'crash' }
  | { readonly kind: 'appear'; readonly node: number; readonly release: number }
  /** Peers take the process for dead, although it lives. It may be notified. */
  | { readonly kind: 'session-lost'; readonly node: number; readonly forMs: number; readonly isTold: boolean }
  /** A process of the release of this place that only calls `runDue`, beside the one that stays. `null`: it is not killed. */
  | { readonly kind: 'call'; readonly node: number; readonly killedAfterMs: number | null }

export type ClockAction =
  | { readonly kind: 'wall-step'; readonly node: number; readonly byMs: number }
  /** Of all processes of one host at the same moment. */
  | { readonly kind: 'host-step'; readonly nodes: readonly number[]; readonly byMs: number }
  | { readonly kind: 'store-step'; readonly byMs: number }

/** `node` -1: the operator's. */
export type LinkAction =
  | {
      readonly kind: 'link'
      readonly node: number
      readonly forMs: number
      readonly fault: LinkFault
      readonly rate: number
      readonly slowMs: number
    }
  | { readonly kind: 'partition'; readonly node: number; readonly forMs: number; readonly fault: LinkFault }
  | { readonly kind: 'outage'; readonly forMs: number; readonly fault: LinkFault }
  | { readonly kind: 'deaf'; readonly node: number; readonly forMs: number }
  /** A bit of everything, on all connections. */
  | { readonly kind: 'trouble'; readonly forMs: number; readonly rate: number; readonly slowMs: number }

export const LINK_FAULTS = [
  'slow',
  'request-lost',
  'answer-lost',
  'applied-then-throws',
  'throws',
  'duplicate',
] as const

export type LinkFault = (typeof LINK_FAULTS)[number]

type Missed = 'skip' | 'latest' | 'all'

export type OperatorAction =
  | {
      readonly kind: 'op-pause'
      readonly schedule: string
      readonly untilMs: number | null
      readonly missed: Missed
    }
  | { readonly kind: 'op-resume'; readonly schedule: string; readonly missed: Missed }
  | {
      readonly kind: 'op-trigger'
      readonly schedule: string
      readonly dedupe: string | null
      readonly overlap: 'honour' | 'ignore'
    }
  | {
      readonly kind: 'op-backfill'
      readonly schedule: string
      readonly fromMsAgo: number
      readonly toMsAgo: number
      readonly force: boolean
    }
  /** Between looking and asking. */
  | { readonly kind: 'op-skip-next'; readonly schedule: string; readonly thinkMs: number }
  /** Which of those that are there then. */
  | {
      readonly kind: 'op-cancel'
      readonly schedule: string
      readonly which: number
      readonly what: 'fire' | 'run'
      readonly thinkMs: number
    }
  | { readonly kind: 'op-retry'; readonly schedule: string; readonly which: number; readonly force: boolean }
  | { readonly kind: 'op-remove'; readonly schedule: string }
  | {
      readonly kind: 'op-define'
      readonly schedule: string
      readonly how: 'create' | 'put' | 'replace'
      readonly plan: Plan
    }
  | { readonly kind: 'op-drain'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'op-activate'; readonly release: number }
  | { readonly kind: 'read' }

/** How things end. Closed sets: every document, screen and query uses these words and no others. */

export const OUTCOMES = ['succeeded', 'failed', 'skipped', 'missed', 'abandoned', 'cancelled'] as const
/** How a fire or a run ended. */
export type Outcome = (typeof OUTCOMES)[number]

/** Why it ended so, by outcome. A reason belongs to exactly one outcome, so the reason alone says both. */
export const REASONS = {
  succeeded: ['completed'],
  failed: [
    /** The handler threw, and no retry is left or wanted. */
    'error',
    /** The handler was still running when its time was up. */
    'timeout',
    /** An earlier run began a durable step, and its outcome is unknown. */
    'step-unknown',
    /** A retry would have begun after the fire's deadline. */
    'retry-too-late',
    /** The input does not fit the job's schema. */
    'input-invalid',
  ],
  skipped: [
    /** An earlier fire of the schedule was still active, and the policy says skip. */
    'overlap',
    /** The queue behind the active fire was full. */
    'queue-full',
    /** It fell into a pause. */
    'paused',
    /** An operator skipped it. */
    'skipped-by-operator',
    /** Its calendar closes the day, and it has no other day, or another fire stands for it there. */
    'calendar',
  ],
  missed: [
    /** Noticed after its grace, and the policy says not to run late fires. */
    'late',
    /** Noticed late, and a newer fire stands in for it. */
    'superseded',
    /** Noticed later than the misfire window reaches back, or beyond the limit of late fires. */
    'too-late',
    /** It was due while the schedule was retired, and the schedule came back with another timing. */
    'while-retired',
  ],
  abandoned: [
    /** Its instance died, and the job must not start twice. */
    'crashed',
    /** Its instances died too often. */
    'crash-budget',
    /** Its instance died or stopped, and it would have been run again only after its deadline. */
    'recovery-too-late',
    /** Its instance stopped before it ended, and the job must not start twice. */
    'stopped',
  ],
  cancelled: [
    /** An operator cancelled it. */
    'cancelled-by-operator',
    /** A newer fire took its place. */
    'replaced',
    /** Its job left the code. */
    'retired',
    /** Its schedule was removed. */
    'removed',
    /** Of a run only: given back unfinished, at no cost, for another instance to run. */
    'handed-back',
  ],
} as const satisfies Record<Outcome, readonly string[]>

/** Why it ended so. */
export type Reason = (typeof REASONS)[Outcome][number]

/** Why a run started later than the grace after it was ready. */
export const START_CAUSES = [
  /** It was late when it was planned, or when its schedule came back from a retirement, and the misfire policy ran it all the same. */
  'caught-up',
  /** Other fires of its schedule were active. */
  'turn',
  /** It could have started, but no instance claimed it: no room, a used-up limit, or an outage. */
  'room',
  /** It waited while its schedule was paused. */
  'pause',
  /** A person or another system asked for it: misfire does not judge it. */
  'asked',
  /** It is a further run, after a failure, a crash or a hand-back. */
  'recovered',
] as const

/** Why a run started later than its grace. */
export type StartCause = (typeof START_CAUSES)[number]

/** How a run or a fire ended. `detail` is for people: an error's message, or the run that blocked it. */
export interface Ending {
  readonly outcome: Outcome
  readonly reason: Reason
  readonly detail: string | null
}

const OUTCOME_OF: ReadonlyMap<Reason, Outcome> = new Map(
  OUTCOMES.flatMap((outcome) => REASONS[outcome].map((reason) => [reason, outcome] as const)),
)

export function ending(reason: Reason, detail: string | null = null): Ending {
  return { outcome: OUTCOME_OF.get(reason)!, reason, detail }
}

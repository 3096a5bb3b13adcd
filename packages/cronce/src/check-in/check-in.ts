/** Which run it is about. */
export interface CheckInRun {
  readonly job: string
  readonly schedule: string
  /** Epoch milliseconds. */
  readonly dueAt: number
  readonly attempt: number
  readonly token: bigint
  readonly instance: string
}

/** How a run ended. `interrupted`: its instance stopped or lost its lease; the fire may be run again. */
export interface CheckInEnd {
  readonly outcome: 'succeeded' | 'failed' | 'interrupted'
  readonly durationMs: number
  /** The message of the error, where it failed. */
  readonly error: string | null
}

/** Receives the start and the end of every run of a job. What it throws is logged; no run fails or waits because of it. */
export interface CheckIn {
  started(run: CheckInRun): unknown
  ended(run: CheckInRun, end: CheckInEnd): unknown
}

/** A dead man's switch that is called by HTTP, as healthchecks.io defined it: URL/start, URL, URL/fail, URL/log. */
export interface CheckInUrl {
  readonly url: string
}

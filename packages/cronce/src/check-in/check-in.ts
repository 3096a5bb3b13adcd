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

/** Ids of check-ins by run. A run that is parked reports no end here, so the oldest are forgotten. */
export class CheckInIds {
  readonly #ids = new Map<string, string>()

  add(run: CheckInRun, id: string): void {
    this.#ids.set(keyOf(run), id)
    if (this.#ids.size <= MOST_IDS) return
    for (const oldest of this.#ids.keys()) {
      this.#ids.delete(oldest)
      return
    }
  }

  /** Each is asked for once. */
  take(run: CheckInRun): string | undefined {
    const id = this.#ids.get(keyOf(run))
    this.#ids.delete(keyOf(run))
    return id
  }
}

const MOST_IDS = 10_000

/** Tokens count per schedule. */
function keyOf({ schedule, token }: CheckInRun): string {
  return `${token} ${schedule}`
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

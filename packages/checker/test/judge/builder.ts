import type {
  Bounds,
  Effect,
  Entry,
  Fault,
  History,
  Ledger,
  LedgerFire,
  LedgerInstance,
  LedgerRun,
  LedgerSchedule,
  NodeEntry,
  Operation,
  Request,
  Spec,
} from '../../src/history.ts'

/** What the store's clock shows at time 0: a whole minute. */
export const EPOCH = Date.parse('2026-03-01T00:00:00Z')
export const MINUTE = 60_000

export const BOUNDS: Bounds = { leaseMs: 15_000, recoveryMs: 40_000, lateMs: 2_000, clockErrorMs: 0, starvedMs: null }

/** A minutely job with the policies that most schedules have. */
export const SPEC: Spec = {
  job: 'work',
  trigger: { kind: 'cron', expression: '* * * * *', tz: 'UTC', dst: 'auto' },
  start: null,
  end: null,
  limit: null,
  guarantee: 'at-least-once',
  overlap: { kind: 'skip', limit: 1 },
  misfire: { graceMs: 10_000, late: 'latest', limit: 100, windowMs: 86_400_000 },
  retry: { attempts: 0, crashes: 2, deadlineMs: null },
  timeout: { runMs: null, graceMs: 10_000 },
  jitterMs: 0,
  keepMs: 30 * 86_400_000,
  keepCount: 1_000,
  jobLimit: null,
  group: null,
  pauseAfter: null,
}

type Options = { [Name in keyof Spec]?: Spec[Name] }

/** A small history, written down step by step. Times are milliseconds since its beginning. */
export class Builder {
  readonly entries: Entry[] = []
  readonly reads: Ledger[] = []
  readonly fires = new Map<string, LedgerFire>()
  readonly runs = new Map<string, LedgerRun>()
  readonly schedules = new Map<string, LedgerSchedule>()
  readonly instances: LedgerInstance[] = []
  bounds = BOUNDS
  /** How far the store's clock has been set. */
  offset = 0

  at(time: number): number {
    return EPOCH + time + this.offset
  }

  node(node: string, at: number, what: NodeEntry['what'] = 'ready', jobs: readonly string[] = ['work']): this {
    this.entries.push({ kind: 'node', at, node, what, jobs })
    return this
  }

  define(at: number, options: Options = {}, schedule = 'a'): this {
    const row = { id: schedule, job: options.job ?? 'work', nextAt: null, createdAt: this.at(at) }
    this.schedules.set(schedule, { ...row, isPaused: false, isRetired: false, open: 0 })
    return this.ask(at, { verb: 'define', spec: { ...SPEC, ...options } }, { schedule })
  }

  ask(at: number, request: Request, frame: Partial<Pick<Operation, 'endedAt' | 'result' | 'schedule'>> = {}): this {
    this.entries.push({ kind: 'operation', at, endedAt: at, result: 'ok', schedule: 'a', ...frame, ...request })
    return this
  }

  fault(fault: string, at: number, until = at, node: Fault['node'] = null, sparesRuns = false): this {
    this.entries.push({ kind: 'fault', at, until, fault, node, ...(sparesRuns && { sparesRuns }) })
    return this
  }

  /** Set the store's clock. */
  step(at: number, byMs: number, until = at): this {
    this.entries.push({ kind: 'clock', at, until, byMs })
    this.offset += byMs
    return this
  }

  /** From here on time is real: what no witness vouches for may have been starved. */
  witnessed(starvedMs = 160): this {
    this.bounds = { ...this.bounds, starvedMs }
    return this
  }

  /** Witnesses vouch for the store and these nodes from the beginning to the end, but for one stretch of one of them. */
  healthy(
    to: number,
    nodes: readonly string[],
    gap?: { readonly node: string | null; readonly at: number; readonly until: number },
  ): this {
    for (const node of [null, ...nodes]) {
      const stretches = gap?.node === node ? [[0, gap.at] as const, [gap.until, to] as const] : [[0, to] as const]
      for (const [at, until] of stretches) this.entries.push({ kind: 'healthy', at, until, node })
    }
    return this
  }

  /** Put a fire on record as it is when nothing happens to it, but for what is given. */
  record(dueAt: number, given: Partial<LedgerFire> = {}): LedgerFire {
    const due = EPOCH + dueAt
    const fire: LedgerFire = {
      ...{ schedule: 'a', dueAt: due, nonce: '', origin: 'scheduled', round: 1, attempt: 0 },
      ...{ plannedAt: due, readyAt: due, endedAt: null, outcome: null, reason: null, untilAt: null, count: 1 },
      ...given,
    }
    this.fires.set(`${fire.schedule} ${fire.dueAt} ${fire.nonce}`, fire)
    return fire
  }

  /**
   * A run of a fire on record, from claim to end, as both witnesses saw it. `silent`: its handler was never called.
   * `cut`: its handler did not come to an end. Tokens grow with time.
   */
  run(
    dueAt: number,
    [from, to]: readonly [from: number, to: number | null],
    given: Partial<LedgerRun> & { readonly node?: string; readonly silent?: boolean; readonly cut?: boolean } = {},
  ): LedgerRun {
    const { node = 'n1', silent = false, cut = false, ...patch } = given
    const key = `${patch.schedule ?? 'a'} ${EPOCH + dueAt} ${patch.nonce ?? ''}`
    const fire = this.fires.get(key) ?? this.record(dueAt, patch.schedule ? { schedule: patch.schedule } : {})
    const outcome = to === null ? null : 'succeeded'
    const reasons = { succeeded: 'completed', failed: 'error', abandoned: 'crashed', cancelled: 'handed-back' }
    const run: LedgerRun = {
      ...{
        schedule: fire.schedule,
        dueAt: fire.dueAt,
        nonce: fire.nonce,
        round: fire.round,
        attempt: fire.attempt + 1,
      },
      ...{ token: String(from + 1), instance: `i-${node}`, startedAt: this.at(from), outcome },
      ...{ endedAt: to === null ? null : this.at(to) },
      reason: to === null ? null : reasons[(patch.outcome ?? 'succeeded') as keyof typeof reasons],
      ...patch,
    }
    this.runs.set(`${run.schedule} ${run.token}`, run)
    const isOver = run.outcome === 'succeeded' || run.outcome === 'failed'
    const ended = isOver ? { endedAt: run.endedAt, outcome: run.outcome, reason: run.reason } : {}
    this.fires.set(key, { ...fire, attempt: run.attempt, ...ended })
    const { schedule, nonce, attempt, token } = run
    const frame = { schedule, dueAt: run.dueAt, nonce, attempt, token, node }
    if (!silent) this.entries.push({ kind: 'start', at: from, ...frame })
    if (!silent && !cut && to !== null) {
      this.entries.push({ kind: 'finish', at: to, how: run.outcome === 'failed' ? 'threw' : 'returned', ...frame })
    }
    return run
  }

  effect(at: number, run: LedgerRun, given: Partial<Effect> = {}): this {
    const { schedule, dueAt, nonce, attempt, token } = run
    const frame = { schedule, dueAt, nonce, attempt, token, node: run.instance.slice(2) }
    this.entries.push({ kind: 'effect', at, ...frame, sink: 'transaction', key: 'row', accepted: true, ...given })
    return this
  }

  /** Change what is on record about a fire. */
  amend(dueAt: number, patch: Partial<LedgerFire>, key = { schedule: 'a', nonce: '' }): this {
    const name = `${key.schedule} ${EPOCH + dueAt} ${key.nonce}`
    this.fires.set(name, { ...this.fires.get(name)!, ...patch })
    return this
  }

  /** Read the ledger. The mark of each schedule is its next minute, unless it was given. */
  read(at: number, patch: Partial<LedgerSchedule> = {}): this {
    const storeAt = this.at(at)
    const nextAt = (Math.floor(storeAt / MINUTE) + 1) * MINUTE
    const schedules = [...this.schedules.values()].map((row) => ({ ...row, nextAt, ...patch }))
    this.reads.push({
      ...{ at, until: at, storeAt, schedules, instances: [...this.instances] },
      ...{ fires: [...this.fires.values()], runs: [...this.runs.values()] },
    })
    return this
  }

  build(): History {
    const entries = this.entries.toSorted((a, b) => a.at - b.at)
    return { format: 1, epoch: EPOCH, bounds: this.bounds, entries, reads: this.reads }
  }
}

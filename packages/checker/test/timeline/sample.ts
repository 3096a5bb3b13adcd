import type { Entry, Fault, History, LedgerFire, LedgerRun, Start, Time } from '../../src/history.ts'
import type { Verdict } from '../../src/verdict.ts'

export const EPOCH = Date.UTC(2026, 2, 1, 8, 30)
const LEASE_MS = 1500
const STEP_AT = 21_000

const storeAt = (at: Time) => EPOCH + at + (at >= STEP_AT ? 2000 : 0)

interface Plan {
  readonly schedule: string
  readonly everyMs: number
  readonly runMs: number
  /** One run in this many throws. */
  readonly throwsEach?: number
}

/** Half a minute of three workers, written by a toy that does right: a kill, pauses, an outage, a step of the clock, a pause by an operator. */
export function sampleHistory(plans: readonly Plan[] = PLANS): History {
  const entries: Entry[] = [...lives(), ...FAULTS, { kind: 'clock', at: STEP_AT, byMs: 2000 }]
  const runs: LedgerRun[] = []
  const fires: LedgerFire[] = []
  const frame = { kind: 'operation', result: 'ok', schedule: 'charge <cards> & "tips"' } as const
  entries.push({ ...frame, at: 16_000, endedAt: 16_020, verb: 'pause', until: null, missed: 'skip' })
  entries.push({ ...frame, at: 20_000, endedAt: 20_030, verb: 'resume', missed: 'skip' })
  let token = 0
  for (const { schedule, everyMs, runMs, throwsEach = Number.POSITIVE_INFINITY } of plans) {
    for (let due = everyMs, count = 1; due < 29_000; due += everyMs, count++) {
      const fire = { schedule, dueAt: storeAt(due), nonce: '' }
      if (schedule === frame.schedule && due > 16_000 && due <= 20_000) {
        fires.push({ ...record(fire), outcome: 'skipped', reason: 'paused', endedAt: EPOCH + 20_030, count: 1 })
        continue
      }
      let at = clearOf(due + 20 + ((count * 37) % 90))
      for (let attempt = 1, isOver = false; !isOver; attempt++) {
        const node = nodeAt(at, schedule.length + count + attempt)
        const run = { ...fire, attempt, token: String(++token) }
        const hit = hitOf(node, at, at + runMs)
        const start: Start = { kind: 'start', at, node, ...run }
        const lostAt = hit === undefined ? null : hit.at + LEASE_MS
        const threw = count % throwsEach === 0
        entries.push(start)
        const end = hit?.fault === 'pause' ? hit.until + 30 : at + runMs
        if (hit?.fault !== 'kill')
          entries.push({ kind: 'finish', at: end, node, how: threw ? 'threw' : 'returned', ...run })
        const outcome =
          lostAt === null ? (threw ? ('failed' as const) : ('succeeded' as const)) : ('abandoned' as const)
        const reason = { succeeded: 'completed', failed: 'error', abandoned: 'crashed' }[outcome]
        const endedAt = storeAt(lostAt ?? end)
        runs.push({ ...run, round: 1, instance: node, startedAt: storeAt(at), endedAt, outcome, reason })
        isOver = lostAt === null
        if (isOver) fires.push({ ...record(fire), outcome, reason, endedAt, attempt })
        at = clearOf((lostAt ?? 0) + 60)
      }
    }
  }
  const ledger = { at: 31_000, until: 31_000, storeAt: EPOCH + 33_000, fires, runs, schedules: [], instances: [] }
  const bounds = { leaseMs: LEASE_MS, recoveryMs: 5000, lateMs: 500, clockErrorMs: 5, starvedMs: null }
  return { format: 1, epoch: EPOCH, bounds, entries: entries.toSorted((a, b) => a.at - b.at), reads: [ledger] }
}

const PLANS: readonly Plan[] = [
  { schedule: 'nightly-backup', everyMs: 5000, runMs: 1800 },
  { schedule: 'charge <cards> & "tips"', everyMs: 1000, runMs: 300, throwsEach: 7 },
  { schedule: 'send-reminders-to-all-tenants-of-the-northern-region', everyMs: 2000, runMs: 900 },
  { schedule: 'heartbeat', everyMs: 400, runMs: 40 },
  { schedule: 'refresh-exchange-rates', everyMs: 3000, runMs: 700 },
]

const FAULTS: readonly Fault[] = [
  { kind: 'fault', at: 3400, until: 3440, fault: 'kill', node: 'w1.1' },
  { kind: 'fault', at: 8100, until: 10_900, fault: 'pause', node: 'w2.2' },
  { kind: 'fault', at: 12_500, until: 13_900, fault: 'store-down', node: null },
  { kind: 'fault', at: 17_000, until: 18_400, fault: 'lossy link', node: 'w3.3' },
  { kind: 'fault', at: 23_000, until: 24_900, fault: 'pause', node: 'w3.3' },
  { kind: 'fault', at: 24_250, until: 24_250, fault: 'kill', node: 'w2.2' },
]

function lives(): Entry[] {
  const life = (node: string, started: Time, ended: Time | null): Entry[] => [
    { kind: 'node', at: started, node, what: 'started', jobs: [] },
    { kind: 'node', at: started + 250, node, what: 'ready', jobs: [] },
    ...(ended === null ? [] : [{ kind: 'node' as const, at: ended, node, what: 'ended' as const, jobs: [] }]),
  ]
  return [life('w1.1', 0, 3400), life('w2.2', 0, 24_250), life('w3.3', 0, null), life('w1.4', 4400, null)].flat()
}

function nodeAt(at: Time, choice: number): string {
  const all = ['w1.1', 'w2.2', 'w3.3', 'w1.4']
  const able = all.filter((node) => {
    const isUp = node === 'w1.1' ? at < 3400 : node === 'w1.4' ? at > 4650 : node === 'w2.2' ? at < 24_250 : true
    return isUp && FAULTS.every((fault) => fault.node !== node || at < fault.at || at > fault.until)
  })
  return able[choice % able.length]!
}

function hitOf(node: string, from: Time, to: Time): Fault | undefined {
  return FAULTS.find(
    (fault) => fault.node === node && fault.fault !== 'lossy link' && fault.at >= from && fault.at <= to,
  )
}

/** Nothing starts while the store is away. */
function clearOf(at: Time): Time {
  return at >= 12_500 && at < 14_000 ? 14_000 + (at % 80) : at
}

function record(fire: { schedule: string; dueAt: number; nonce: string }) {
  const { dueAt } = fire
  return {
    ...fire,
    origin: 'scheduled',
    round: 1,
    attempt: 0,
    plannedAt: dueAt,
    readyAt: dueAt,
    untilAt: null,
    count: 1,
  } as const
}

export const NOTHING_WRONG: Verdict = {
  violations: [],
  counts: {
    schedules: 0,
    instants: 0,
    required: 0,
    optional: 0,
    forbidden: 0,
    starts: 0,
    finishes: 0,
    restarted: 0,
    effects: { accepted: 0, refused: 0 },
    byOutcome: {},
    byReason: {},
    faults: {},
    timed: {},
    latenessMs: null,
  },
}

/** A fire that ran twice at the same time, and one that did not run. */
export function brokenSample(): { history: History; verdict: Verdict } {
  const history = sampleHistory()
  const original = history.entries.find((entry) => entry.kind === 'start' && entry.at > 15_000)! as Start
  const twin: Start = {
    ...original,
    at: original.at + 200,
    node: original.node === 'w2.2' ? 'w3.3' : 'w2.2',
    token: '999',
  }
  const end: Entry = { ...twin, kind: 'finish', at: twin.at + 400, how: 'returned' }
  const lost = history.reads[0]!.fires.find(
    ({ schedule, dueAt }) => schedule === 'heartbeat' && dueAt > EPOCH + 19_000,
  )!
  const entries = history.entries
    .filter((entry) => !('token' in entry && entry.schedule === lost.schedule && entry.dueAt === lost.dueAt))
    .concat(twin, end)
    .toSorted((a, b) => a.at - b.at)
  const read = history.reads[0]!
  const verdict: Verdict = {
    ...NOTHING_WRONG,
    violations: [
      {
        property: 'C1',
        basis: 'time',
        message: `${lost.schedule} was due at ${new Date(lost.dueAt).toISOString()}, three instances were ready all the time, nothing was in its way, and no instance ran it.`,
        schedule: lost.schedule,
        dueAt: lost.dueAt,
        evidence: [],
      },
      {
        property: 'C2',
        basis: 'order',
        message: `${original.schedule} due ${new Date(original.dueAt).toISOString()} was started under token 999 while token ${original.token} still held it: nothing had happened to its instance.`,
        schedule: original.schedule,
        dueAt: original.dueAt,
        evidence: [original, twin],
      },
    ],
  }
  return {
    history: { ...history, entries, reads: [{ ...read, fires: read.fires.filter((fire) => fire !== lost) }] },
    verdict,
  }
}

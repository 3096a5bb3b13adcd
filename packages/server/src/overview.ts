import { type FireView, type InstanceView, OUTCOMES, type RunView, type ScheduleView } from 'cronce'
import { isExclusive, judgeSchedule, skewed, THRESHOLDS } from 'cronce/internal'
import { collect } from './collect.ts'
import { forecast } from './forecast.ts'
import { quantile } from './quantile.ts'
import type { Source } from './source.ts'
import { Steps } from './steps.ts'

const DAY_MS = 86_400_000
/** As far as counts go. A page of runs is smaller, since each brings its log. */
const BOUNDS = {
  schedules: { pages: 5, limit: 1_000 },
  fires: { pages: 5, limit: 1_000 },
  runs: { pages: 5, limit: 200 },
} as const
const NEXT = 10
const SLOT_MS = 1_800_000
const ATTENTION = 50

interface Attention {
  readonly kind: 'failing' | 'no-instance' | 'overdue' | 'instance-silent' | 'clock' | 'deployments'
  readonly about: string
  readonly message: string
}

/** The figures of a first screen. Bounded, whatever the store holds. */
export async function overviewOf(source: Source, fleet: Pick<Source['instances'], 'list'> = source.instances) {
  const store = await source.store.check()
  const from = store.now - DAY_MS
  const [schedules, fires, runs, instances] = await Promise.all([
    collect(BOUNDS.schedules, (page) => source.schedules.list(page)),
    collect(BOUNDS.fires, (page) => source.fires.list({ from, ...page })),
    collect(BOUNDS.runs, (page) => source.runs.list({ from, ...page })),
    fleet.list(),
  ])
  const active = schedules.items.filter(({ state }) => state === 'active')
  const ahead = { from: store.now, to: Number.POSITIVE_INFINITY, most: NEXT }
  return {
    now: store.now,
    from,
    schedules: { ...countBy(schedules.items, SCHEDULE_STATES), cut: schedules.cut },
    fires: { ...countFires(fires.items), cut: fires.cut },
    slots: slotsOf(fires.items, from, store.now),
    runs: { ...figuresOf(runs.items), cut: runs.cut },
    instances: {
      ...countBy(instances, ['live', 'draining', 'silent']),
      running: instances.reduce((sum, { state, running }) => (isThere(state) ? sum + running : sum), 0),
    },
    store,
    next: (await forecast(active, ahead, new Steps())).items,
    attention: attentionOf(active, instances, store.now).slice(0, ATTENTION),
  }
}

const SCHEDULE_STATES = ['active', 'paused', 'retired', 'finished'] as const

function countBy<State extends string>(
  items: readonly { readonly state: string }[],
  states: readonly State[],
): Record<State, number> {
  const counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<string, number>
  for (const { state } of items) if (counts[state] !== undefined) counts[state]++
  return counts as Record<State, number>
}

/** A range counts as what it stands for. */
function countFires(fires: readonly FireView[]): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(['open', ...OUTCOMES].map((state) => [state, 0]))
  for (const { state, range } of fires) counts[state]! += range?.count ?? 1
  return counts
}

/** The same by half hour, the earliest first. */
function slotsOf(fires: readonly FireView[], from: number, now: number) {
  const first = Math.floor(from / SLOT_MS)
  const slots: FireView[][] = Array.from({ length: Math.floor(now / SLOT_MS) - first + 1 }, () => [])
  for (const fire of fires) slots[Math.floor(fire.dueAt / SLOT_MS) - first]?.push(fire)
  return slots.map((some, index) => ({ at: (first + index) * SLOT_MS, ...countFires(some) }))
}

function figuresOf(runs: readonly RunView[]) {
  const durations = runs.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]))
  return {
    count: runs.length,
    latenessP95Ms: quantile(
      runs.map(({ latenessMs }) => latenessMs),
      0.95,
    ),
    durationP50Ms: quantile(durations, 0.5),
    durationP95Ms: quantile(durations, 0.95),
  }
}

function placeText(on: ScheduleView['on']): string {
  const labels = Object.entries(on ?? {}).map(([label, values]) => `${label}=${values.join('|')}`)
  return labels.length === 0 ? '' : `, which belongs to ${labels.join(', ')}`
}

function isThere(state: InstanceView['state']): boolean {
  return state === 'live' || state === 'draining'
}

function attentionOf(
  active: readonly ScheduleView[],
  instances: readonly InstanceView[],
  now: number,
): readonly Attention[] {
  const there = instances.filter(({ state }) => isThere(state))
  const found: Attention[] = []
  for (const { id, state, host, clockOffsetMs } of instances) {
    if (state === 'silent') {
      found.push({ kind: 'instance-silent', about: id, message: `The instance on ${host} has stopped answering.` })
    }
    if (isThere(state) && skewed([{ clockOffsetMs }], THRESHOLDS.clock.offsetMs).length > 0) {
      const message = `The clock of ${host} is ${clockOffsetMs} ms off the store's.`
      found.push({ kind: 'clock', about: id, message })
    }
  }
  for (const app of new Set(there.map((instance) => instance.app))) {
    const deployments = new Set(there.filter((instance) => instance.app === app).map(({ deployment }) => deployment))
    if (deployments.size > 1) {
      const message = `Instances of ${deployments.size} deployments are live: ${[...deployments].join(', ').slice(0, 200)}.`
      found.push({ kind: 'deployments', about: app, message })
    }
  }
  for (const schedule of active) found.push(...wrongWith(schedule, instances, now))
  return found
}

/** What the rules of the watchdog find without a look at the history. */
function wrongWith(schedule: ScheduleView, instances: readonly InstanceView[], now: number): readonly Attention[] {
  const { name, job, failedInRow } = schedule
  const facts = { now, schedule, instances, ends: null, history: null }
  return judgeSchedule(facts, THRESHOLDS).problems.flatMap(({ rule, text }): readonly Attention[] => {
    // The holder of a lock knows how its work ended.
    if (rule === 'failing' && !isExclusive(job)) {
      return [{ kind: 'failing', about: name, message: `The last ${failedInRow} fires have failed.` }]
    }
    if (rule === 'no-runner') {
      const message = `No live instance has the job ${JSON.stringify(job)}${placeText(schedule.on)}.`
      return [{ kind: 'no-instance', about: name, message }]
    }
    return rule === 'overdue' ? [{ kind: 'overdue', about: name, message: `It is ${text}.` }] : []
  })
}

import { boundsOf, ownershipMsOf } from './bounds.ts'
import { SHARED } from './draw-fleet-shape.ts'
import { HOG } from './draw-little-room.ts'
import { drawPlan, drawWork, type Setting } from './draw-plan.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import { type Action, DEFAULT_APP, type NodePlan, type Plan, type Release, type Scenario } from './scenario.ts'

/** The job that only this app has, and the name that it gets when it is renamed. No operator asks for anything of either. */
const ownName = (app: string): string => `${app}-own`
const newName = (app: string): string => `${app}-new`

const APPS = [DEFAULT_APP, 'mail', 'bill']

/** No process has this name at the beginning. */
const NEW_APP = 'depot'

/** With longer leases it takes minutes until a name has passed to another app. */
const LONGEST_LEASE_MS = 5_000

/** What the apps are at the beginning; events add releases and actions. */
interface Draft {
  readonly dice: Dice
  readonly scenario: Scenario
  /** The app of each node, by its place in `APPS`. */
  readonly apps: readonly number[]
  readonly nodes: readonly NodePlan[]
  readonly releases: Release[]
  readonly actions: Action[]
}

/**
 * In some scenarios two or three apps share the store and the namespace. They declare jobs of the same names, with the same or with other
 * definitions; jobs move from one app to another; apps disappear and come back; processes get another app name. Drawn by dice of its own,
 * so that the rest of a scenario stays what its seed draws.
 */
export function withApps(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'apps'))
  const { kind, nodes, leaseMs, releases } = scenario
  const isFit = kind === 'seconds' && nodes.length > 1 && leaseMs <= LONGEST_LEASE_MS
  if (!isFit || !dice.chance(0.45)) return scenario
  const count = nodes.length > 2 && dice.chance(0.35) ? 3 : 2
  const hasSameIds = dice.chance(0.5)
  const others = APPS.slice(1, count).map((app) => drawApp(dice, scenario, app, hasSameIds))
  // Each app has at least one node.
  const apps = nodes.map((_, place) => (place < count ? place : dice.whole(0, count - 1)))
  const indexOf = (app: number, release: number): number => app * releases.length + release
  const draft: Draft = {
    ...{ dice, scenario, apps },
    nodes: nodes.map((node, place) => ({ ...node, release: indexOf(apps[place]!, node.release ?? 0) })),
    releases: [...releases, ...others.flatMap((other) => other.releases)],
    actions: scenario.actions.map((action): Action => {
      if (action.kind === 'deploy' || action.kind === 'appear')
        return { ...action, release: indexOf(apps[action.node]!, action.release) }
      if (action.kind !== 'op-activate') return action
      return { ...action, release: indexOf(dice.whole(0, count - 1), action.release) }
    }),
  }
  for (let events = dice.whole(1, 3); events > 0; events--) drawEvent(draft)
  const own = others.flatMap(({ own: names }) => names)
  const shaped: Scenario = {
    ...scenario,
    ...{ nodes: draft.nodes, releases: draft.releases },
    work: { ...scenario.work, ...Object.fromEntries(own.map((name) => [name, drawWork(dice, settingOf(scenario))])) },
    actions: draft.actions.filter(({ at }) => at < scenario.faultsMs).sort((one, other) => one.at - other.at),
  }
  return { ...shaped, calmMs: Math.max(shaped.calmMs, ownershipMsOf(shaped) + boundsOf(shaped).lateMs) }
}

function settingOf({ kind, epoch, faultsMs, leaseMs, releases, created }: Scenario): Setting {
  const plans = [...releases.flatMap(({ jobs }) => Object.values(jobs)), ...Object.values(created)]
  const groupLimit = plans.find(({ spec }) => spec.group !== null)?.spec.group?.limit ?? 2
  return { kind, epoch, faultsMs, leaseMs, zones: ['UTC'], groupLimit }
}

/** An app with a job of its own, and with some of the names that the first app has. Its releases correspond to those of the first app. */
function drawApp(dice: Dice, scenario: Scenario, app: string, hasSameIds: boolean) {
  const setting = settingOf(scenario)
  const own = ownName(app)
  const ownPlan = withoutBounds(drawPlan(dice, setting, own, true))
  const names = new Set(scenario.releases.flatMap(({ jobs }) => Object.keys(jobs)))
  const drawn = [...names].map((name) => {
    const isSame = name === SHARED || name === HOG
    const how = isSame ? 'same' : dice.pick(['same', 'same', 'other', 'other', 'absent'] as const)
    return [name, how === 'other' ? drawPlan(dice, setting, name, true) : how] as const
  })
  const jobsOf = (jobs: Release['jobs']): Release['jobs'] => {
    const shared = drawn.flatMap(([name, plan]): [string, Plan][] => {
      if (jobs[name] === undefined || plan === 'absent') return []
      return [[name, plan === 'same' ? jobs[name] : plan]]
    })
    return { ...Object.fromEntries(shared), [own]: ownPlan }
  }
  const releases = scenario.releases.map((release): Release => {
    const isScript = Object.keys(release.jobs).length === 0
    const id = hasSameIds ? release.id : `${release.id}-${app}`
    return { ...release, app, id, jobs: isScript ? {} : jobsOf(release.jobs) }
  })
  return { own: [own, newName(app)], releases }
}

/** A job that goes on under another name takes its count, its failures in a row and its pause along: those are not drawn. */
function withoutBounds(plan: Plan): Plan {
  const trigger = plan.spec.trigger ?? { kind: 'every', everyMs: 1_000, anchor: 0 }
  return { ...plan, spec: { ...plan.spec, trigger, start: null, end: null, limit: null, pauseAfter: null } }
}

function drawEvent(draft: Draft): void {
  const { dice, apps } = draft
  const [from, to] = dice.pick(pairsOf(Math.max(...apps) + 1))
  switch (dice.pick(['move', 'move', 'gone', 'back', 'back', 'renamed app', 'renamed job', 'renamed job'] as const)) {
    case 'move':
      moveJob(draft, from, to)
      break
    case 'renamed job':
      renameJob(draft, Math.max(1, from), to)
      break
    case 'gone':
      leaveFor(draft, from, null)
      break
    case 'back':
      leaveFor(draft, from, draft.scenario.holdDownMs * dice.pick([0.3, 1.2, 3]))
      break
    case 'renamed app':
      renameApp(draft, from, to)
      break
  }
}

function pairsOf(count: number): readonly (readonly [from: number, to: number])[] {
  const all = Array.from({ length: count }, (_, app) => app)
  return all.flatMap((from) => all.filter((to) => to !== from).map((to) => [from, to] as const))
}

const placesOf = ({ apps }: Draft, app: number): readonly number[] =>
  apps.flatMap((its, place) => (its === app ? [place] : []))

const drawTime = ({ dice, scenario }: Draft): number => Math.floor(scenario.faultsMs * (0.1 + 0.7 * dice.roll()))

/** A release drops a job and one of another app declares it: one after the other in either order, or at the same time. */
function moveJob(draft: Draft, from: number, to: number): void {
  const { dice, releases, nodes, actions, scenario } = draft
  const first = releases[nodes[placesOf(draft, from)[0]!]!.release!]!
  const names = Object.keys(first.jobs).filter((name) => name !== SHARED && name !== HOG)
  if (names.length === 0) return
  const name = dice.pick(names)
  const isSame = dice.chance(0.6)
  const plan = isSame ? first.jobs[name]! : drawPlan(dice, settingOf(scenario), name, true)
  const at = drawTime(draft)
  const gapMs = dice.pick([0, 500, 3_000])
  const laterMs = dice.pick([0, 0, 2_000, 15_000])
  const isDroppedFirst = dice.chance(0.5)
  const deploy = (app: number, delayMs: number, jobsOf: (jobs: Release['jobs']) => Release['jobs']): void => {
    const moved = new Map<number, number>()
    for (const [turn, place] of placesOf(draft, app).entries()) {
      const before = nodes[place]!.release!
      if (!moved.has(before)) {
        const release = releases[before]!
        moved.set(before, releases.length)
        releases.push({ ...release, id: `${release.id}-moved-${name}`, jobs: jobsOf(release.jobs) })
      }
      const downMs = dice.pick([0, 500])
      actions.push({
        at: at + delayMs + turn * gapMs,
        kind: 'deploy',
        node: place,
        release: moved.get(before)!,
        downMs,
      })
    }
  }
  deploy(from, isDroppedFirst ? 0 : laterMs, ({ [name]: _, ...jobs }) => jobs)
  deploy(to, isDroppedFirst ? laterMs : 0, (jobs) => ({ ...jobs, [name]: plan }))
}

/**
 * A release renames the job that only its app has. Sometimes another app has the new name, until it leaves or drops it.
 */
function renameJob(draft: Draft, app: number, other: number): void {
  const { dice, releases, nodes, actions } = draft
  const [was, name] = [ownName(APPS[app]!), newName(APPS[app]!)]
  const plan = releases.find(({ jobs }) => jobs[was] !== undefined)!.jobs[was]!
  const renamed: Plan = { ...plan, spec: { ...plan.spec, job: name }, was }
  const at = drawTime(draft)
  const gapMs = dice.pick([0, 500, 3_000])
  const deploy = (place: number, when: number, what: string, jobsOf: (jobs: Release['jobs']) => Release['jobs']) => {
    const release = releases[nodes[place]!.release!]!
    releases.push({ ...release, id: `${release.id}-${what}`, jobs: jobsOf(release.jobs) })
    actions.push({ at: when, kind: 'deploy', node: place, release: releases.length - 1, downMs: dice.pick([0, 500]) })
  }
  const { was: _, ...taken } = renamed
  const lateMs = drawLateness(draft)
  for (const [turn, place] of placesOf(draft, app).entries()) {
    const when = at + turn * gapMs
    if (lateMs !== null) forgetAtFirst(draft, { place, when, was, name, plan: taken })
    deploy(place, when + (lateMs ?? 0), `renamed-${was}`, ({ [was]: _, ...jobs }) => ({ ...jobs, [name]: renamed }))
  }
  // A job that lost its old name before another app had the new one goes on under neither.
  if (other === app || !dice.chance(0.4) || lateMs !== null) return
  const takenAt = Math.max(0, at - dice.pick([0, 5_000, 20_000]))
  for (const place of placesOf(draft, other)) {
    deploy(place, takenAt, `with-${name}`, (jobs) => ({ ...jobs, [name]: taken }))
    if (!dice.chance(0.5)) continue
    actions.push({ at: at + 15_000, kind: 'deploy', node: place, release: nodes[place]!.release!, downMs: 0 })
  }
}

/**
 * How long after the release with the new name another one says what the job was called before; `null`: at once. Drawn by dice of its
 * own, so that the rest of a scenario stays what its seed draws.
 */
function drawLateness({ scenario }: Draft): number | null {
  const dice = createDice(seedOf(scenario.seed, 'late was'))
  return dice.chance(0.3) ? dice.pick([2_000, 8_000, 20_000, 40_000]) : null
}

interface Forgotten {
  readonly place: number
  readonly when: number
  readonly was: string
  readonly name: string
  readonly plan: Plan
}

/** A release gives a job another name without a word about the old one: both names may fire until the old one is retired. */
function forgetAtFirst({ releases, nodes, actions }: Draft, { place, when, was, name, plan }: Forgotten): void {
  const before = releases[nodes[place]!.release!]!
  const { [was]: _, ...jobs } = before.jobs
  releases.push({ ...before, id: `${before.id}-named-${name}`, jobs: { ...jobs, [name]: plan } })
  actions.push({ at: when, kind: 'deploy', node: place, release: releases.length - 1, downMs: 0 })
}

/** All processes of an app end, for a while or (`null`) for good. At least one app stays. */
function leaveFor(draft: Draft, app: number, forMs: number | null): void {
  const { dice, nodes, actions, apps } = draft
  const isLast = apps.every((its, place) => its === app || actions.some((one) => isVanishing(one, place)))
  if (isLast) return
  const at = drawTime(draft)
  const gapMs = dice.pick([0, 500, 2_000])
  for (const [turn, place] of placesOf(draft, app).entries()) {
    const goneAt = at + turn * gapMs
    actions.push({ at: goneAt, kind: 'vanish', node: place, how: dice.pick(['stop', 'crash']) })
    if (forMs === null) continue
    actions.push({ at: Math.floor(goneAt + forMs), kind: 'appear', node: place, release: nodes[place]!.release! })
  }
}

const isVanishing = (action: Action, place: number): boolean => action.kind === 'vanish' && action.node === place

/** Some processes of an app come back with the jobs that they had, under the name of another app or under one of their own. */
function renameApp(draft: Draft, from: number, to: number): void {
  const { dice, nodes, actions, releases } = draft
  const places = placesOf(draft, from)
  const at = drawTime(draft)
  const app = dice.chance(0.5) ? APPS[to]! : NEW_APP
  for (const place of dice.some(places, dice.whole(1, places.length))) {
    const release = releases[nodes[place]!.release!]!
    releases.push({ ...release, app, id: `${release.id}-renamed-${from}-${place}` })
    actions.push({ at, kind: 'deploy', node: place, release: releases.length - 1, downMs: dice.pick([0, 500]) })
  }
}

import type { Spec } from '../../packages/checker/src/history.ts'
import { createDice, type Dice, seedOf } from './random.ts'
import type { Plan, Scenario } from './scenario.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
/** Of zones, in minutes: no offset is farther east. */
const FARTHEST_EAST = 14 * 60

/**
 * In a third of the scenarios some schedules have calendars. Drawn by dice of its own, so that the rest of a scenario stays what its seed
 * draws.
 */
export function withCalendars(scenario: Scenario): Scenario {
  const dice = createDice(seedOf(scenario.seed, 'calendars'))
  if (!dice.chance(1 / 3)) return scenario
  const midnight = midnightZone(dice, scenario)
  const draw = (plan: Plan): Plan => withCalendar(dice, scenario, plan, midnight)
  const drawAll = (plans: Readonly<Record<string, Plan>>) =>
    Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, draw(plan)]))
  return {
    ...scenario,
    releases: scenario.releases.map((release) => ({ ...release, jobs: drawAll(release.jobs) })),
    created: drawAll(scenario.created),
  }
}

/** A zone in which a day ends during a scenario of seconds. */
function midnightZone(dice: Dice, { epoch, faultsMs }: Scenario): string {
  const midnight = Math.ceil((epoch + faultsMs * dice.pick([0.2, 0.5, 0.7])) / MINUTE)
  const minutes = (1_440 - (midnight % 1_440)) % 1_440
  const offset = minutes > FARTHEST_EAST ? minutes - 1_440 : minutes
  const two = (value: number): string => String(value).padStart(2, '0')
  const [hours, rest] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${offset < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`
}

function withCalendar(dice: Dice, { kind, epoch }: Scenario, plan: Plan, midnight: string): Plan {
  const { trigger } = plan.spec
  if (trigger?.kind !== 'cron' || dice.chance(0.3)) return plan
  const date = (days: number): string => new Date(epoch + days * DAY).toISOString().slice(0, 10)
  const weekday = (days: number): string => WEEKDAYS[new Date(epoch + days * DAY).getUTCDay()]!
  const first = dice.whole(-1, 3)
  const days = dice.pick([
    date(first),
    date(first).slice(5),
    weekday(first),
    `${weekday(first)} ${weekday(first + 1)}`,
    `${date(first)}/${date(first + dice.whole(1, 2))}`,
    `${date(-3)}/${date(5)} +${date(first)}`,
  ])
  const excluded = dice.pick([undefined, 'next-working-day', 'previous-working-day', 'nearest'] as const)
  const calendar = { days, ...(excluded === undefined ? {} : { excluded }) }
  const tz = kind === 'seconds' ? midnight : trigger.tz
  const spec: Spec = { ...plan.spec, trigger: { ...trigger, tz, calendar } }
  return { ...plan, spec }
}

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

import type { ScheduleView } from 'cronce'

/** Why a schedule was retired, by cause. */
export const CAUSES: Readonly<Record<string, (deployment: string) => string>> = {
  dropped: (deployment) => `deployment ${deployment} does not declare it`,
  absent: () => 'no live process declared it',
  renamed: (deployment) => `deployment ${deployment} renamed it`,
}

/** `retired since …: deployment v2 does not declare it`; `null`: it is not retired. */
export function retiredWords({ state, retirements }: ScheduleView, when: (instant: number) => string): string | null {
  const last = retirements.at(-1)
  if (state !== 'retired' || last === undefined) return null
  const { from, cause, deployment, renamedTo } = last
  const goesOn = renamedTo === undefined ? '' : `, its job goes on as ${renamedTo},`
  return `retired${goesOn} since ${when(from)}${CAUSES[cause] === undefined ? '' : `: ${CAUSES[cause](deployment)}`}`
}

/** Until when the waiting fires of a retired schedule are kept, and how they end. `null`: they are not frozen. */
export function frozenWords(schedule: ScheduleView, when: (instant: number) => string): string | null {
  const until = frozenUntil(schedule)
  if (until === null) return null
  return `Frozen, since the schedule is retired: ends as cancelled (retired) ${when(until)}, unless its job is declared again before.`
}

function frozenUntil({ state, retirements, policy }: ScheduleView): number | null {
  const last = retirements.at(-1)
  if (state !== 'retired' || last === undefined || last.renamedTo !== undefined) return null
  return last.from + policy.misfire.windowMs
}

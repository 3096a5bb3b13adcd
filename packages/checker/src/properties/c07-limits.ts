import type { Case, Subject } from '../case.ts'
import type { LedgerRun, Spec } from '../history.ts'
import { fireText, iso, type Report } from '../report.ts'

/** Limits over several schedules, where all of them agree on one all the time. */
export function judgeLimits(judged: Case, report: Report): void {
  const limits = new Map<string, { readonly limit: number | null; readonly subjects: Set<Subject> }>()
  for (const subject of judged.schedules) {
    for (const spec of subject.definitions.specs) {
      for (const { name, limit } of limitsOf(spec)) {
        const known = limits.get(name)
        const agreed = known === undefined || known.limit === limit ? limit : null
        limits.set(name, { limit: agreed, subjects: (known?.subjects ?? new Set()).add(subject) })
      }
    }
  }
  for (const [name, { limit, subjects }] of limits) {
    const isAlways = (spec: Spec): boolean => limitsOf(spec).some((own) => own.name === name)
    const counted = [...subjects].filter(({ definitions }) => definitions.specs.every(isAlways))
    if (limit !== null)
      judgeLimit(
        judged,
        name,
        limit,
        counted.flatMap(({ runs }) => runs),
        report,
      )
  }
}

function limitsOf({ job, jobLimit, group }: Spec): readonly { readonly name: string; readonly limit: number }[] {
  const limits = jobLimit === null ? [] : [{ name: `job ${job}`, limit: jobLimit }]
  return group === null ? limits : [...limits, { name: `group ${group.name}`, limit: group.limit }]
}

function judgeLimit({ clock }: Case, name: string, limit: number, runs: readonly LedgerRun[], report: Report): void {
  // When each was surely open: where the clock was set back, its own times do not tell.
  const sure = runs.flatMap((run) => {
    const from = clock.wasSetBack ? clock.timesOf(run.startedAt).to : run.startedAt
    const ended = run.endedAt ?? Number.POSITIVE_INFINITY
    const to = clock.wasSetBack && run.endedAt !== null ? clock.timesOf(run.endedAt).from : ended
    return from < to ? [{ from, to, run }] : []
  })
  sure.sort((a, b) => a.from - b.from)
  let open: typeof sure = []
  for (const next of sure) {
    open = [...open.filter(({ to }) => to > next.from), next]
    if (open.length <= limit) continue
    const message = `${fireText(next.run)} was claimed at ${iso(next.run.startedAt)} (token ${next.run.token}) as number ${open.length} of ${name}, which has a limit of ${limit}.`
    report(
      'C7',
      next.run,
      message,
      open.slice(-limit - 1).map(({ run }) => run),
    )
  }
}

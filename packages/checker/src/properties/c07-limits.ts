import type { Case, Subject } from '../case.ts'
import type { Story } from '../evidence.ts'
import type { Spec } from '../history.ts'
import { fireText, type Report } from '../report.ts'

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
    if (limit !== null) judgeLimit(judged, name, limit, counted, report)
  }
}

function limitsOf({ job, jobLimit, group }: Spec): readonly { readonly name: string; readonly limit: number }[] {
  const limits = jobLimit === null ? [] : [{ name: `job ${job}`, limit: jobLimit }]
  return group === null ? limits : [...limits, { name: `group ${group.name}`, limit: group.limit }]
}

/**
 * A run is surely open from the first line of its handler until the store's clock was read to end it. The times on
 * record are those of decisions; schedules that share a limit are not written in the order in which it was decided about them.
 */
function judgeLimit(judged: Case, name: string, limit: number, subjects: readonly Subject[], report: Report): void {
  const sure = subjects.flatMap(({ stories }) => [...stories.values()].flatMap((story) => openSpans(judged, story)))
  sure.sort((a, b) => a.from - b.from)
  let open: typeof sure = []
  for (const next of sure) {
    open = [...open.filter(({ to }) => to > next.from), next]
    if (open.length <= limit) continue
    const number = `number ${open.length} of ${name}, which has a limit of ${limit}`
    const message = `${fireText(next.run)} ran (token ${next.run.token}) as ${number}.`
    const evidence = open.slice(-limit - 1).map(({ run }) => run)
    report('C7', next.run, message, evidence)
  }
}

function openSpans({ clock }: Case, { starts, runs }: Story) {
  return starts.flatMap((start) => {
    const run = runs.find(({ token }) => token === start.token)
    if (run === undefined) return []
    const to = run.endedAt === null ? Number.POSITIVE_INFINITY : clock.timesOf(run.endedAt).from
    return start.at < to ? [{ from: start.at, to, run }] : []
  })
}

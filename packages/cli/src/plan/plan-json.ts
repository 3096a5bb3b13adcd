import type { Forecast } from '../forecast/forecast.ts'
import { ruleWords } from './differences.ts'
import type { Plan } from './make-plan.ts'
import type { PlannedChange } from './planned-change.ts'

/** Due times that a program is told one by one; the counts are of all. */
const MOST_LISTED = 100

/** The plan for programs. Times are ISO texts. */
export function planJson(plan: Plan, where: string): object {
  const { now, until, app, deployment, isIdAssumed, verdict, unchanged, changes, remarks, load, collisions } = plan
  const counts = Map.groupBy(changes, ({ kind }) => kind)
  const countOf = (kind: PlannedChange['kind']): number => counts.get(kind)?.length ?? 0
  return {
    ...{ verdict, app, deployment: isIdAssumed ? null : deployment, store: where, at: iso(now), until: iso(until) },
    counts: {
      ...{ added: countOf('added'), changed: countOf('changed'), renamed: countOf('renamed') },
      ...{ returned: countOf('returned'), retired: countOf('retired'), undeclared: countOf('undeclared') },
      ...{ refused: countOf('refused'), unchanged },
    },
    changes: changes.map(changeJson),
    remarks,
    load: { before: loadJson(load.before), after: loadJson(load.after) },
    collisions,
  }
}

function changeJson({
  kind,
  name,
  was,
  before,
  after,
  refusal,
  differences,
  next,
  fires,
  clockChanges,
}: PlannedChange) {
  const { moved, lost, added, switch: at } = fires
  const pause = after?.pause ?? null
  return {
    ...{ kind, name, was, refusal },
    rule: { before: before === null ? null : ruleWords(before), after: after === null ? null : ruleWords(after) },
    differences,
    next: { before: next.before.map(iso), after: next.after.map(iso) },
    fires: {
      ...{ before: fires.before, after: fires.after, until: iso(fires.until), kept: fires.kept },
      moved: {
        count: moved.length,
        first: moved.slice(0, MOST_LISTED).map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
      },
      lost: { count: lost.length, first: lost.slice(0, MOST_LISTED).map(iso) },
      added: { count: added.length, first: added.slice(0, MOST_LISTED).map(iso) },
      switch: at === null ? null : { kind: at.kind, last: iso(at.last), first: iso(at.first) },
    },
    clockChanges,
    paused:
      pause === null
        ? null
        : { until: pause.untilAt === null ? null : iso(pause.untilAt), author: pause.author, note: pause.note },
  }
}

function loadJson({ fires, days, estimated, hours }: Forecast): object {
  return { fires, days, estimated, hours: hours.map(({ at, fires: count }) => ({ at: iso(at), fires: count })) }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

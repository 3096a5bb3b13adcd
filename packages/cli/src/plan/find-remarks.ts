import type { ScheduleView } from 'cronce'
import { trigger as makeTrigger, stats } from 'cronce/cron'
import { formatDuration, formatLocal, formatUtc, joinWords } from '../format.ts'
import { counted } from '../steer/say.ts'
import { triggerZone } from '../trigger-words.ts'
import { effectWords } from '../zone-marks.ts'
import type { PlannedChange } from './planned-change.ts'

/** What a reader of a plan should look at. A `risk` fails the gate; a `note` does not. */
export interface Remark {
  readonly level: 'risk' | 'note'
  readonly code: RemarkCode
  readonly schedules: readonly string[]
  readonly message: string
  readonly hint: string
}

export type RemarkCode =
  | 'REFUSED'
  | 'RENAMED_WITHOUT_WAS'
  | 'INSTANT_PAST'
  | 'NEVER_DUE'
  | 'SOON_AGAIN'
  | 'LONG_WAIT'
  | 'CLOCK_CHANGE'
  | 'PAUSED'
  | 'RETIRED_WHILE_PAUSED'
  | 'JOB_NEEDED'
  | 'MANY_RETIRED'
  | 'UNDECLARED'
  | 'TWO_FORMS'
  | 'NOT_ACTIVE'
  | 'OPERATOR_SKIPPED'

export interface Looked {
  readonly now: number
  readonly until: number
  readonly changes: readonly PlannedChange[]
  readonly activeBefore: number
  /** By job that is retired, how many schedules made at run time need it. */
  readonly needed: ReadonlyMap<string, number>
  /** The release that would define the schedules instead of this one; `null`: this one does. */
  readonly outrankedBy: string | null
  readonly holdDownMs: number
}

/** In the order of their weight. */
export function findRemarks(looked: Looked): readonly Remark[] {
  const found = [...ofRelease(looked), ...looked.changes.flatMap((change) => ofChange(change, looked))]
  return [...found.filter(({ level }) => level === 'risk'), ...found.filter(({ level }) => level === 'note')]
}

function ofRelease({ changes, activeBefore, needed, outrankedBy, holdDownMs }: Looked): Remark[] {
  const found: Remark[] = []
  if (outrankedBy !== null) {
    found.push({
      ...{ level: 'risk', code: 'NOT_ACTIVE', schedules: [] },
      message: `A newer release runs, ${outrankedBy}, so this one changes nothing that both declare.`,
      hint: 'Give each release its own id, or stop the newer one first: https://github.com/cronce/cronce/blob/main/docs/deploys.md.',
    })
  }
  const retired = changes.filter(({ kind }) => kind === 'retired')
  if (retired.length > 1 && retired.length * 2 >= activeBefore) {
    found.push({
      ...{ level: 'risk', code: 'MANY_RETIRED', schedules: retired.map(({ name }) => name) },
      message: `The release retires ${retired.length} of ${counted(activeBefore, 'schedule')}.`,
      hint: 'If other processes of the release declare them, name their files, too: cronce plan web.ts worker.ts.',
    })
  }
  for (const [job, count] of needed) {
    found.push({
      ...{ level: 'risk', code: 'JOB_NEEDED', schedules: [job] },
      message: `${counted(count, 'schedule')} made at run time ${count === 1 ? 'needs' : 'need'} job ${job}, which leaves the code.`,
      hint: `Keep the job, or remove them first: cronce list --job ${job}.`,
    })
  }
  return [...found, ...lookAlikes(changes, holdDownMs), ...twoForms(changes)]
}

/** A job that leaves and another that comes with the same rule. */
function lookAlikes(changes: readonly PlannedChange[], holdDownMs: number): Remark[] {
  const added = changes.filter(({ kind }) => kind === 'added')
  return changes.flatMap((old): Remark[] => {
    const { trigger } = old.before ?? { trigger: null }
    if (old.kind !== 'retired' || trigger === null) return []
    const rule = JSON.stringify(trigger)
    const next = added.find(({ after }) => JSON.stringify(after?.trigger) === rule)
    if (next === undefined || plainName(old.name) === plainName(next.name)) return []
    const pause = old.before?.pause == null ? '' : ' The pause of the old one does not go along.'
    return [
      {
        ...{ level: 'risk', code: 'RENAMED_WITHOUT_WAS', schedules: [old.name, next.name] },
        message: `${next.name} has the rule of ${old.name}, which leaves. If it is the same job, its due times run under both names until ${formatDuration(holdDownMs)} after the last older process has ended.${pause}`,
        hint: `Write was: '${old.name}' if it was renamed.`,
      },
    ]
  })
}

/** A job that is on each host now and was not, or the reverse. */
function twoForms(changes: readonly PlannedChange[]): Remark[] {
  const retired = new Map(changes.filter(({ kind }) => kind === 'retired').map(({ name }) => [plainName(name), name]))
  const added = new Map(
    changes.filter(({ kind }) => kind === 'added' || kind === 'returned').map(({ name }) => [plainName(name), name]),
  )
  return [...added].flatMap(([job, name]): Remark[] => {
    const old = retired.get(job)
    if (old === undefined) return []
    return [
      {
        ...{ level: 'risk', code: 'TWO_FORMS', schedules: [old, name] },
        message: `Job ${job} goes on in its other form, and both forms run until the old one is retired.`,
        hint: 'Deploy it at a time when it is not due.',
      },
    ]
  })
}

/** Of a host's schedule, that of the job. */
function plainName(name: string): string {
  return name.split('@')[0]!
}

function ofChange(change: PlannedChange, looked: Looked): Remark[] {
  const { kind, name, before, after, refusal } = change
  const about = (level: Remark['level'], code: RemarkCode, message: string, hint: string): Remark => ({
    ...{ level, code, schedules: [name], message, hint },
  })
  if (refusal !== null) {
    return [
      about(
        'risk',
        'REFUSED',
        refusal.message,
        'Choose another name, or remove the other one: https://github.com/cronce/cronce/blob/main/docs/deploys.md.',
      ),
    ]
  }
  if (kind === 'retired') {
    if (before?.pause == null) return []
    const message = `${name} is paused${byWords(before)}, and leaves the code.`
    return [about('risk', 'RETIRED_WHILE_PAUSED', message, 'Ask the operator who paused it.')]
  }
  if (kind === 'undeclared') {
    const message = `No file declares ${name} any more. Without deployment ids it is not retired at once: its due times wait for a process that declares it.`
    return [
      about(
        'note',
        'UNDECLARED',
        message,
        'Set CRONCE_DEPLOYMENT in all processes, so that it is retired with the deploy.',
      ),
    ]
  }
  if (after === null) return []
  return [...ofTrigger(change, after, looked, about), ...ofOperator(change, after, about), ...ofSwitch(change, about)]
}

type About = (level: Remark['level'], code: RemarkCode, message: string, hint: string) => Remark

function ofTrigger(
  { name, fires }: PlannedChange,
  after: ScheduleView,
  { now, until }: Looked,
  about: About,
): Remark[] {
  const { trigger, pause } = after
  if (trigger === null) return []
  if (trigger.kind === 'at') {
    if (trigger.at > now) return []
    const message = `${name} is due once, at ${formatUtc(trigger.at)}, which has passed. If it is not on record yet, its misfire policy decides whether it runs at once.`
    return [about('risk', 'INSTANT_PAST', message, 'Choose a later time, or remove the job.')]
  }
  const found: Remark[] = []
  if (fires.after === 0 && pause === null) {
    const message = `${name} is not due before ${formatUtc(until)}.`
    found.push(about('risk', 'NEVER_DUE', message, 'Check its expression, start, end and limit: cronce explain.'))
  }
  for (const words of clockChanges(after, now, until)) {
    found.push(
      about(
        'risk',
        'CLOCK_CHANGE',
        `${name}: ${words}.`,
        'Choose another time of day, or leave out dst, gap and overlap.',
      ),
    )
  }
  return found
}

/** What the clock changes of the zone do to it, where a due time is dropped or repeated. */
export function clockChanges(
  schedule: ScheduleView,
  from: number,
  to: number,
  also: readonly string[] = [],
): readonly string[] {
  const { trigger: data } = schedule
  const trigger = data === null ? null : makeTrigger(data)
  if (trigger?.kind !== 'cron' || trigger.never || trigger.timing !== 'fixed') return []
  const wanted = ['dropped', 'repeated', ...also]
  return stats(trigger, { from, to })
    .changes.filter(({ effect }) => wanted.includes(effect))
    .map((change) => {
      const at = formatLocal(change.at, triggerZone(data), 'minute')
      return `${at}: ${effectWords(trigger, change)}`
    })
}

function ofOperator({ name, before }: PlannedChange, after: ScheduleView, about: About): Remark[] {
  const found: Remark[] = []
  if (after.pause !== null) {
    const { untilAt } = after.pause
    const end = untilAt === null ? 'until an operator resumes it' : `until ${formatUtc(untilAt)}`
    const message = `${name} is paused${byWords(after)}, and stays paused ${end}.`
    found.push(about('note', 'PAUSED', message, `Resume it when it may run: cronce resume ${name}.`))
  }
  const skipped = (before?.skipped ?? []).length
  if (skipped > 0) {
    const message = `An operator has skipped ${counted(skipped, 'due time')} of ${name}; they stay on record as skipped, also if the new rule has other due times.`
    found.push(about('note', 'OPERATOR_SKIPPED', message, 'Skip the new due times as well if they must not run.'))
  }
  return found
}

function byWords({ pause }: ScheduleView): string {
  const parts = [pause?.author == null ? '' : `by ${pause.author}`, pause?.note == null ? '' : `"${pause.note}"`]
  const said = parts.filter((part) => part !== '')
  return said.length === 0 ? '' : ` (${joinWords(said)})`
}

function ofSwitch({ name, fires, after }: PlannedChange, about: About): Remark[] {
  if (fires.switch === null) return []
  const { kind, last, first } = fires.switch
  const tz = triggerZone(after?.trigger ?? null)
  const [was, is] = [last, first].map((at) => formatLocal(at, tz, 'minute'))
  const wait = formatDuration(first - last)
  if (kind === 'soon') {
    const message = `${name} was due ${was} and is due again ${is}, ${wait} later, because its rule changes in between.`
    return [about('risk', 'SOON_AGAIN', message, `Deploy later, or skip it: cronce skip-next ${name}.`)]
  }
  const message = `${name} was due ${was} and is not due again before ${is}, ${wait} later, because its rule changes in between.`
  return [about('risk', 'LONG_WAIT', message, `Deploy earlier, or run it once by hand: cronce run ${name}.`)]
}

import { type CronTrigger, type EveryTrigger, stats } from 'cronce/cron'
import type { Args } from '../args.ts'
import { formatDuration, formatLocal, formatOffset, precisionFor } from '../format.ts'
import { fireCount, frequencyOf } from '../frequency.ts'
import type { Io } from '../io.ts'
import { notesOn } from '../notes.ts'
import { printJson } from '../output.ts'
import { fireLines } from '../print.ts'
import { readSchedule, SCHEDULE_FLAGS, type Schedule } from '../schedule.ts'
import { sanitize, wrap } from '../terminal.ts'
import { timingWords } from '../timing.ts'
import { words } from '../words.ts'
import { hasChanges } from '../zone.ts'
import { changeWords, effectWords } from '../zone-marks.ts'
import type { Command } from './command.ts'

const DAY_MS = 86_400_000
/** Thirteen months: both changes of a year, whenever the question is asked. */
const CHANGES_AHEAD_MS = 396 * DAY_MS
/** Where the engine's zone tables begin, give or take a day. */
const CHANGES_KNOWN_FROM = Date.UTC(1970) - DAY_MS
const NEXT_COUNT = 3

export const explain: Command = {
  operands: '"<expression>"',
  examples: [
    ['cronce explain "0 9 * * MON-FRI" --tz America/New_York', 'in words, and what clock changes do'],
    ['cronce explain "0 0 13 * FRI"', 'day of month or weekday: which is it?'],
    ['cronce explain "*/45 * * * *"', 'a step with an unexpected meaning'],
    ['cronce explain "0 12 ? * 2#1 *" --dialect eventbridge', 'an expression of another scheduler'],
  ],
  flags: {
    ...SCHEDULE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runExplain,
}

function runExplain(args: Args, io: Io): number {
  const schedule = readSchedule(args, 'explain', io.now)
  const explanation = explanationOf(schedule)
  if (args.has('json')) printJson(toJson(explanation), io)
  else io.out(toText(explanation, io))
  return 0
}

type Explanation = ReturnType<typeof explanationOf>

function explanationOf(schedule: Schedule) {
  const { trigger, tz, from } = schedule
  const isEvent = trigger.kind === 'cron' && trigger.timing === 'event'
  return {
    trigger,
    tz,
    from,
    isEvent,
    words: wordsFor(trigger),
    timing: timingWords(trigger),
    frequency: frequencyOf(trigger, from),
    next: trigger.nextN(from, NEXT_COUNT),
    changes: isEvent ? [] : stats(trigger, { from, to: from + CHANGES_AHEAD_MS }).changes,
    notes: notesOn(schedule),
  }
}

function wordsFor(trigger: CronTrigger | EveryTrigger): string {
  if (trigger.kind === 'every') return `Every ${formatDuration(trigger.everyMs)} of elapsed time`
  return trigger.timing === 'event' ? 'When a process starts' : words(trigger.fields)
}

function toJson({ trigger, tz, words, frequency, next, changes, notes }: Explanation) {
  return {
    expression: trigger.kind === 'cron' ? trigger.expression : undefined,
    everyMs: trigger.kind === 'every' ? trigger.everyMs : undefined,
    words,
    normalized: trigger.kind === 'cron' ? trigger.normalized : undefined,
    tz,
    timing: trigger.kind === 'cron' ? trigger.timing : 'elapsed',
    never: trigger.never,
    frequency: {
      words: frequency.words,
      from: iso(frequency.from),
      to: iso(frequency.to),
      fires: frequency.fires,
      exact: frequency.exact,
    },
    smallestGapMs: frequency.smallestGapMs,
    next: next.map(iso),
    changes: changes.map(({ at, offsetBeforeMs, offsetAfterMs, effect, count, fires }) => ({
      at: iso(at),
      offsetBefore: formatOffset(offsetBeforeMs),
      offsetAfter: formatOffset(offsetAfterMs),
      effect,
      count,
      fires: fires.map((fire) => ({ local: fire.local, at: fire.at.map(iso) })),
    })),
    notes,
  }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}

const LABEL_WIDTH = 14
const WIDTH = 100

function toText(explanation: Explanation, io: Io): string {
  const { trigger, tz, isEvent, frequency, notes } = explanation
  const { paint } = io
  const lines: string[] = []
  const label = (text: string): string => paint('dim', text.padEnd(LABEL_WIDTH))
  const row = (name: string, text: string): void => {
    lines.push(label(name) + wrap(text, WIDTH, ' '.repeat(LABEL_WIDTH)))
  }
  const table = (name: string, texts: readonly string[]): void => {
    lines.push(...texts.map((text, i) => label(i === 0 ? name : '') + text))
  }

  const never = notes.find(({ code }) => code === 'NEVER')
  if (never !== undefined) lines.push(`${paint('red', 'NEVER FIRES:')} ${never.message}`, '')
  row('words', explanation.words)
  if (trigger.kind === 'cron' && !isEvent) row('normalised', trigger.normalized)
  row('timing', explanation.timing)
  if (!isEvent) row('zone', tz)
  if (!trigger.never) {
    row('frequency', `${frequency.words} (${fireCount(frequency.fires, frequency.exact)} in the next 366 days)`)
    if (frequency.smallestGapMs !== null) row('smallest gap', formatDuration(frequency.smallestGapMs))
    table('next', nextLines(explanation, io))
    table('zone changes', changeLines(explanation))
  }
  notes
    .filter((note) => note !== never)
    .forEach((note, i) => {
      row(i === 0 ? 'notes' : '', sanitize(note.message))
    })
  return `${lines.join('\n')}\n`
}

function nextLines({ trigger, next, tz, from }: Explanation, io: Io): string[] {
  if (next.length > 0) return fireLines(trigger, next, { tz, from, paint: io.paint })
  const last = trigger.prev(from)
  return [last === null ? 'none' : `none; the last was ${formatLocal(last, tz, precisionFor([last], tz))}`]
}

function changeLines({ trigger, changes, tz, from }: Explanation): string[] {
  if (trigger.kind !== 'cron' || !hasChanges(tz)) return []
  const lines = changes.map((change) => {
    const at = formatLocal(change.at, tz, 'minute')
    return `${at}  ${changeWords(change)}: ${effectWords(trigger, change)}`
  })
  if (from < CHANGES_KNOWN_FROM) return ['changes before 1970 are not known', ...lines]
  return lines.length === 0 ? ['none in the next 13 months'] : lines
}

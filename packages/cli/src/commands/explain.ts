import { type CronTrigger, type EveryTrigger, stats } from 'cronce/cron'
import type { Args } from '../args.ts'
import { formatCount, formatDuration, formatLocal, formatOffset, formatUtc } from '../format.ts'
import { frequencyOf } from '../frequency.ts'
import { neverBecause } from '../never.ts'
import { type Note, notesOn } from '../notes.ts'
import { fireLines, type Io } from '../print.ts'
import { readSchedule, SCHEDULE_FLAGS, type Schedule } from '../schedule.ts'
import { sanitize, wrap } from '../terminal.ts'
import { timingWords } from '../timing.ts'
import { words } from '../words.ts'
import { isUtc } from '../zone.ts'
import { changeWords, effectWords } from '../zone-marks.ts'
import type { Command } from './command.ts'

const DAY_MS = 86_400_000
/** Thirteen months: both changes of a year, whenever the question is asked. */
const CHANGES_AHEAD_MS = 396 * DAY_MS
const NEXT_COUNT = 3

export const explain: Command = {
  name: 'explain',
  operands: '"<expression>"',
  summary: 'What an expression means, how often it fires, and what clock changes do to it',
  examples: [
    ['cronce explain "0 9 * * MON-FRI" --tz America/New_York', ''],
    ['cronce explain "0 0 13 * FRI"', 'day of month or weekday: which is it?'],
    ['cronce explain "*/45 * * * *"', 'a step that does not do what it seems to'],
    ['cronce explain "0 12 ? * 2#1 *" --dialect eventbridge', 'an expression from elsewhere'],
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
  io.out(args.has('json') ? `${JSON.stringify(toJson(explanation), null, 2)}\n` : toText(explanation, io))
  return 0
}

type Explanation = ReturnType<typeof explanationOf>

function explanationOf({ trigger, options, tz, from }: Schedule) {
  const isCron = trigger.kind === 'cron'
  const isEvent = isCron && trigger.timing === 'event'
  return {
    trigger,
    tz,
    from,
    isEvent,
    words: wordsFor(trigger),
    timing: timingWords(trigger, options),
    never: trigger.never && !isEvent ? neverBecause(trigger) : undefined,
    frequency: frequencyOf(trigger, from),
    next: trigger.nextN(from, NEXT_COUNT),
    last: trigger.prev(from),
    changes: isCron && !isEvent ? stats(trigger, { from, to: from + CHANGES_AHEAD_MS }).changes : [],
    notes: isCron ? notesOn(trigger, options) : everyNotes(trigger),
  }
}

function wordsFor(trigger: CronTrigger | EveryTrigger): string | undefined {
  if (trigger.kind === 'every') return `Every ${formatDuration(trigger.everyMs)} of elapsed time`
  if (trigger.timing === 'event') return 'When a process starts'
  return words(trigger.normalized)
}

function everyNotes({ anchor }: EveryTrigger): Note[] {
  const message = `Counted from ${formatUtc(anchor)}, so all instances agree without talking to each other. Others count @every from when a process starts; crontab does not know it.`
  return [{ code: 'EVERY', message }]
}

function toJson({ trigger, tz, words, frequency, next, changes, notes }: Explanation) {
  return {
    expression: trigger.kind === 'cron' ? trigger.expression : undefined,
    everyMs: trigger.kind === 'every' ? trigger.everyMs : undefined,
    words: words ?? null,
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
  const { trigger, tz, never, isEvent, frequency, notes, changes } = explanation
  const { paint } = io
  const lines: string[] = []
  const row = (label: string, text: string): void => {
    const indent = ' '.repeat(LABEL_WIDTH)
    lines.push(paint('dim', label.padEnd(LABEL_WIDTH)) + wrap(text, WIDTH, indent))
  }
  const rows = (label: string, texts: readonly string[]): void => {
    texts.forEach((text, i) => {
      lines.push(paint('dim', (i === 0 ? label : '').padEnd(LABEL_WIDTH)) + text)
    })
  }

  if (never !== undefined) lines.push(`${paint('red', 'NEVER FIRES:')} ${never}`, '')
  row('words', explanation.words ?? 'no words for this one: see the fires below')
  if (trigger.kind === 'cron' && !isEvent) row('normalised', trigger.normalized)
  row('timing', explanation.timing)
  if (isEvent) return `${lines.join('\n')}\n`

  row('zone', tz)
  if (never === undefined) {
    row('frequency', frequencyText(explanation))
    if (frequency.smallestGapMs !== null) row('smallest gap', formatDuration(frequency.smallestGapMs))
    rows('next', nextLines(explanation, io))
    if (trigger.kind === 'cron') rows('zone changes', changeLines(trigger, changes, tz))
  }
  notes.forEach((note, i) => {
    row(i === 0 ? 'notes' : '', `${sanitize(note.message)}`)
  })
  return `${lines.join('\n')}\n`
}

function frequencyText({ frequency }: Explanation): string {
  const { words, fires, exact } = frequency
  return `${words} (${exact ? '' : 'about '}${formatCount(fires)} in the next 366 days)`
}

function nextLines({ trigger, next, last, tz, from }: Explanation, io: Io): string[] {
  if (next.length > 0) return fireLines(trigger, next, { tz, from, paint: io.paint })
  return [last === null ? 'none' : `none; the last was ${formatLocal(last, tz, 'second')}`]
}

function changeLines(trigger: CronTrigger, changes: Explanation['changes'], tz: string): string[] {
  if (changes.length > 0) {
    return changes.map((change) => {
      const at = formatLocal(change.at, tz, 'minute')
      return `${at}  ${changeWords(change)}: ${effectWords(trigger, change)}`
    })
  }
  return isUtc(tz) ? [] : ['none in the next 13 months']
}

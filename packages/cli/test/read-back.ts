/**
 * The time of day in a sentence, read as a person would, in seconds since midnight. It does not use cron: if the result
 * matches the schedule, the words were right.
 */
export function readBack(sentence: string): number[] {
  const times = [...sentence.matchAll(/\b(\d\d):(\d\d)(?::(\d\d))?/g)].map(([, h, m, s]) => [h, m, s ?? 0].map(Number))
  if (/^At \d\d:/.test(sentence)) return times.map(([h, m, s]) => h! * 3600 + m! * 60 + s!).sort((a, b) => a - b)

  const clauses = clausesOf(sentence)
  const second = clauses.find((clause) => /second/i.test(clause))
  const minute = clauses.find((clause) => /minute(?!,|$| of)/i.test(clause) && !/second/i.test(clause))
  const wholeMinute = clauses.some((clause) => /^every minute$/i.test(clause))
  const wholeHour = clauses.some((clause) => /^(every hour|on the hour)$/i.test(clause))

  const seconds = second === undefined ? [0] : readValues(second, 'second')
  const minutes = minute === undefined ? (wholeHour ? [0] : range(0, 59)) : readValues(minute, 'minute')
  if (minute === undefined && !wholeMinute && !wholeHour && second === undefined)
    throw new Error(`No minute: ${sentence}`)
  const hours = readHours(sentence)
  return hours.flatMap((h) => minutes.flatMap((m) => seconds.map((s) => h * 3600 + m * 60 + s)))
}

/** Split at the commas that separate clauses, not at those inside a list of numbers. */
function clausesOf(sentence: string): string[] {
  return sentence.replace(/(every \d+ (second|minute)s), (starting|\2s \d)/gi, '$1 $3').split(/, (?!\d|and \d)/)
}

function readValues(clause: string, unit: 'second' | 'minute'): number[] {
  const numbers = clause.replace(/^every \d+/i, '')
  const every = /every (\d+)/i.exec(clause)?.[1]
  const step = every === undefined ? 1 : Number(every)
  if (new RegExp(`^every ${unit}$`, 'i').test(clause)) return range(0, 59)
  const through = /(\d+) through (\d+)/g
  const spans = [...numbers.matchAll(through)].flatMap(([, a, b]) => range(Number(a), Number(b), step))
  if (every !== undefined) {
    if (spans.length > 0) return spans
    const start = /starting at (\d+)/.exec(clause)?.[1]
    return range(Number(start ?? 0), 59, step)
  }
  const singles = [...numbers.replace(through, '').matchAll(/\d+/g)].map(([value]) => Number(value))
  return [...spans, ...singles].sort((a, b) => a - b)
}

function readHours(sentence: string): number[] {
  const during = /during hours ([\d, and]+\d)/.exec(sentence)?.[1]
  if (during !== undefined) return [...during.matchAll(/\d+/g)].map(([value]) => Number(value))
  const step = /every (\d+) hours, starting at (\d\d):00/i.exec(sentence)
  if (step) return range(Number(step[2]), 23, Number(step[1]))
  const spans = [...sentence.matchAll(/between (\d\d):00 and (\d\d):(?:00|59)/g)]
  if (spans.length > 0) return spans.flatMap(([, from, to]) => range(Number(from), Number(to)))
  return range(0, 23)
}

function range(from: number, to: number, step = 1): number[] {
  const values: number[] = []
  for (let value = from; value <= to; value += step) values.push(value)
  return values
}

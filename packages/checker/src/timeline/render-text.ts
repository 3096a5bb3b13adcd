import type { Entry, History, LedgerFire, Operation, RunOfFire, Time } from '../history.ts'
import type { Verdict } from '../verdict.ts'
import { describeInstant } from './words.ts'

interface Line {
  readonly at: Time
  readonly who: string
  readonly what: string
}

/** A small history in lines for a terminal: when, which node, what. Then the records and the violations. */
export function renderText(history: History, verdict: Verdict): string {
  const events = history.entries.flatMap(describe).toSorted((one, other) => one.at - other.at)
  const width = Math.max(0, ...events.map(({ who }) => who.length))
  const timeWidth = Math.max(0, ...events.map(({ at }) => seconds(at).length))
  const happened = events.map(
    ({ at, who, what }) => `${seconds(at).padStart(timeWidth)}  ${who.padEnd(width)}  ${what}`,
  )
  const fires = history.reads.at(-1)?.fires ?? []
  const begin = describeInstant(history.epoch)
  const today = begin.slice(0, 'YYYY-MM-DD '.length)
  const lines = [
    ...happened,
    ...(fires.length === 0 ? [] : ['On record:']),
    ...fires.toSorted((one, other) => one.dueAt - other.dueAt).map((fire) => `  ${describeFire(fire)}`),
    ...verdict.violations.map(({ property, message }) => `${property}: ${message}`),
  ]
  return [`The store's clock begins at ${begin} UTC.`, ...lines.map((line) => line.replaceAll(today, ''))]
    .map((line) => line.replace(/\p{Cc}/gu, '\u{fffd}'))
    .join('\n')
}

function describe(entry: Entry): Line[] {
  switch (entry.kind) {
    case 'operation':
      return describeOperation(entry)
    case 'start':
      return [{ at: entry.at, who: entry.node, what: `starts ${nameOf(entry)}` }]
    case 'finish':
      return [{ at: entry.at, who: entry.node, what: `${entry.how === 'threw' ? 'fails' : 'ends'} ${nameOf(entry)}` }]
    case 'effect': {
      const mark = `${entry.sink} ${entry.key} is ${entry.accepted ? 'accepted' : 'refused'}`
      return [{ at: entry.at, who: entry.node, what: `${mark}: ${nameOf(entry)}` }]
    }
    case 'node':
      return [{ at: entry.at, who: entry.node, what: `is ${entry.what}` }]
    case 'fault':
      return describeFault(entry)
    case 'healthy':
      return []
    case 'clock':
      return [
        {
          at: entry.at,
          who: 'store',
          what: `clock is set ${entry.byMs < 0 ? 'back' : 'forward'} by ${Math.abs(entry.byMs)} ms`,
        },
      ]
  }
}

function describeFault({ at, until, node, fault }: Extract<Entry, { kind: 'fault' }>): Line[] {
  const who = node ?? 'all'
  const begins = { at, who, what: `FAULT ${fault}` }
  return until === at ? [begins] : [begins, { at: until, who, what: `${fault} is over` }]
}

function describeOperation(operation: Operation): Line[] {
  const what = `${operation.verb} ${operation.schedule}${detailOf(operation)}`
  const asked = { at: operation.at, who: 'operator', what }
  const { endedAt, result } = operation
  if (result === 'info' || endedAt === null) return [{ ...asked, what: `${what}: outcome unknown` }]
  return [{ ...asked, what: `${what}: ${result}${endedAt === operation.at ? '' : ` at ${seconds(endedAt)}`}` }]
}

function detailOf(operation: Operation): string {
  switch (operation.verb) {
    case 'define':
      return ` ${describeTrigger(operation.spec.trigger)}, ${operation.spec.guarantee}, overlap ${operation.spec.overlap.kind}`
    case 'backfill':
      return ` ${describeInstant(operation.from)} to ${describeInstant(operation.to)}`
    case 'skip-next':
    case 'cancel':
    case 'retry':
      return ` ${describeInstant(operation.dueAt)}`
    case 'pause':
    case 'resume':
      return ` (missed: ${operation.missed})`
    default:
      return ''
  }
}

function describeTrigger(trigger: Extract<Operation, { verb: 'define' }>['spec']['trigger']): string {
  if (trigger === null) return 'by hand'
  if (trigger.kind === 'at') return `at ${describeInstant(trigger.at)}`
  return trigger.kind === 'every' ? `every ${trigger.everyMs} ms` : `${trigger.expression} ${trigger.tz}`
}

function nameOf({ schedule, dueAt, nonce, attempt, token }: RunOfFire): string {
  return `${schedule} ${describeInstant(dueAt)}${nonce === '' ? '' : ` (${nonce})`}, attempt ${attempt}, token ${token}`
}

function describeFire(fire: LedgerFire): string {
  const range = fire.untilAt === null ? '' : ` to ${describeInstant(fire.untilAt)} (${fire.count})`
  const outcome = fire.outcome === null ? 'open' : `${fire.outcome}: ${fire.reason}`
  return `${fire.schedule} ${describeInstant(fire.dueAt)}${range}, ${outcome}, attempt ${fire.attempt}`
}

function seconds(time: Time): string {
  return (time / 1000).toFixed(3)
}

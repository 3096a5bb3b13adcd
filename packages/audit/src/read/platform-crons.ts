import type { Fact } from '../facts/fact.ts'
import { NO_GUARD, PLATFORM_ZONE, type Schedule, type When, type Zone } from '../facts/schedule.ts'
import type { Reader } from './reader.ts'

/** No platform accepts more; the rest of such a file is not read. */
const MAX_CRONS = 1000

function scheduleOf(
  path: string,
  line: number,
  source: 'vercel' | 'cloudflare' | 'eventbridge',
  name: string | null,
  when: When,
  zone: Zone = PLATFORM_ZONE,
): Schedule {
  return {
    kind: 'schedule',
    place: { path, line },
    source,
    runner: 'platform',
    name,
    when,
    zone,
    zoneGroup: null,
    guard: NO_GUARD,
    handler: { isAsync: null, effect: 'unknown', dropped: null, text: name ?? '' },
    overlap: 'unknown',
    isDynamic: false,
  }
}

const CRON = /"schedule"\s*:\s*"([^"\n]*)"/
const ROUTE = /"path"\s*:\s*"([^"\n]*)"/

/** `crons` of vercel.json; the name of each schedule is its route. */
export const vercelReader: Reader = {
  name: 'Vercel',
  reads: (path) => /(?:^|\/)vercel\.json$/.test(path),
  mayHoldFacts: (text) => text.includes('"crons"'),
  read: ({ path, text }) => {
    const from = text.indexOf('"crons"')
    const end = text.indexOf(']', from)
    return [...text.slice(from, end < 0 ? undefined : end).matchAll(/\{[^{}]*\}/g)]
      .slice(0, MAX_CRONS)
      .flatMap((match): readonly Fact[] => {
        const expression = CRON.exec(match[0])?.[1]
        const route = ROUTE.exec(match[0])?.[1] ?? null
        if (expression === undefined) return []
        const line = lineAt(text, from + match.index + match[0].search(CRON))
        return [scheduleOf(path, line, 'vercel', route, { kind: 'cron', expression, dialect: 'vercel' })]
      })
  },
}

/** `crons` of wrangler.toml and wrangler.json. */
export const wranglerReader: Reader = {
  name: 'wrangler',
  reads: (path) => /(?:^|\/)wrangler(?:\.[\w-]+)?\.(?:toml|jsonc?)$/.test(path),
  mayHoldFacts: (text) => /\bcrons\b/.test(text),
  read: ({ path, text }) =>
    [...text.matchAll(/^[ \t]*"?crons"?\s*[=:]\s*\[([^\]]*)\]/gm)].flatMap((list) =>
      [...list[1]!.matchAll(/"([^"\n]+)"|'([^'\n]+)'/g)].slice(0, MAX_CRONS).map((match) => {
        const line = lineAt(text, list.index + list[0].indexOf('[') + 1 + match.index)
        // Quartz numbers weekdays as Cloudflare does.
        return scheduleOf(path, line, 'cloudflare', null, { kind: 'unknown', text: match[1] ?? match[2]! })
      }),
    ),
}

/** `schedule_expression` of EventBridge in Terraform. */
export const terraformReader: Reader = {
  name: 'Terraform',
  reads: (path) => /\.tf$/.test(path),
  mayHoldFacts: (text) => text.includes('schedule_expression'),
  read: ({ path, text }) => {
    const lines = text.split('\n')
    return lines.flatMap((written, index): readonly Fact[] => {
      const match = /^\s*schedule_expression\s*=\s*(.+?)\s*$/.exec(written)
      if (match === null) return []
      const zone = blockAround(lines, index).find((line) => /^\s*schedule_expression_timezone\s*=/.test(line))
      return [scheduleOf(path, index + 1, 'eventbridge', null, eventBridge(match[1]!), zoneOf(zone))]
    })
  },
}

/** The lines of the resource around a line: a brace in the first column ends it. */
function blockAround(lines: readonly string[], index: number): readonly string[] {
  let from = index
  let to = index
  while (from > 0 && index - from < 50 && !/^[}\w]/.test(lines[from]!)) from--
  while (to < lines.length - 1 && to - index < 50 && !lines[to]!.startsWith('}')) to++
  return lines.slice(from, to)
}

function zoneOf(line: string | undefined): Zone {
  if (line === undefined) return PLATFORM_ZONE
  const name = /=\s*"([^"$]+)"/.exec(line)?.[1]
  return name === undefined ? { kind: 'computed' } : { kind: 'stated', name }
}

const UNITS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

function eventBridge(written: string): When {
  const text = /^"([^"]*)"/.exec(written)?.[1] ?? written
  if (text.includes('${') || !written.startsWith('"')) return { kind: 'unknown', text }
  const rate = /^rate\((\d+)\s+(minute|hour|day)s?\)$/.exec(text)
  if (rate !== null) return { kind: 'every', ms: Number(rate[1]) * UNITS[rate[2]!]! }
  if (/^at\(/.test(text)) return { kind: 'once' }
  const expression = /^cron\((.*)\)$/.exec(text)?.[1]
  return expression === undefined ? { kind: 'unknown', text } : { kind: 'cron', expression, dialect: 'eventbridge' }
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

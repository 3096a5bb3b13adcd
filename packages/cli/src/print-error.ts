import { type CronceError, CronError } from 'cronce/cron'
import { type Glyph, glyphs, type Paint, sanitize } from './terminal.ts'

/** Columns of an expression shown around the trouble. */
const WINDOW = 72
const INDENT = '  '

/** Message, the expression with carets under the place, hint. For people, on stderr. `flags`: of the command. */
export function errorText(error: CronceError, paint: Paint, flags: ReadonlySet<string>): string {
  const lines = [`${paint('red', 'error:')} ${sanitize(messageOf(error, flags))}`]
  const hasFrame = error instanceof CronError && error.expression.trim() !== ''
  if (hasFrame) lines.push('', ...frame(error, paint))
  const hint = hintOf(error, flags)
  if (hint !== undefined) lines.push(...(hasFrame ? [''] : []), `${paint('cyan', 'hint:')} ${sanitize(hint)}`)
  return `${lines.join('\n')}\n`
}

/** The same for programs: one JSON object. */
export function errorJson(error: CronceError, flags: ReadonlySet<string>): string {
  const { code } = error
  const message = messageOf(error, flags)
  const hint = hintOf(error, flags)
  if (!(error instanceof CronError)) return `${JSON.stringify({ error: { code, message, hint } })}\n`
  const { field, position, length, expected } = error
  return `${JSON.stringify({ error: { code, message, hint, field, position, length, expected } })}\n`
}

/** The library speaks of options. Where the command has a flag for one, the message speaks of that. */
function messageOf(error: CronceError, flags: ReadonlySet<string>): string {
  const flag = flagOf(error, flags)
  return flag === null ? error.message : error.message.replace(`The option ${flag}`, `--${flag}`)
}

function hintOf(error: CronceError, flags: ReadonlySet<string>): string | undefined {
  if (error.code === 'SEED_MISSING' && flags.has('seed'))
    return 'Add --seed with the name of the schedule: the same seed gives the same time.'
  if (error.hint === undefined && error instanceof CronError && error.expected !== undefined)
    return `Expected ${error.expected}.`
  if (error.hint === 'Make to later than from.' && flags.has('to')) return 'Make --to later than --from.'
  const flag = flagOf(error, flags)
  if (flag !== null) return error.hint?.replace(`Write ${flag}: `, `Write --${flag} `)
  // What is wrong with the expression of a jobs file is not put right by a flag.
  if (!(error instanceof CronError)) return error.hint
  return error.hint?.replace(
    /\b(set|use) the option (\w+)(?:: \w+: \{[^}]*\})?/i,
    (words, verb: string, option: string) => {
      if (!flags.has(option)) return words
      return `${/^[A-Z]/.test(verb) ? 'Add' : 'add'} --${option}`
    },
  )
}

/** The flag that an error about an option is about. `null`: the command has none, or the option stands in a jobs file. */
function flagOf({ code, message }: CronceError, flags: ReadonlySet<string>): string | null {
  const option =
    code === 'OPTION_INVALID' ? /^(?:Schedule "[^"]*": )?The option ([a-z]+) can't be/.exec(message)?.[1] : undefined
  return option !== undefined && flags.has(option) ? option : null
}

function frame(error: CronError, paint: Paint): string[] {
  const all = glyphs(error.expression)
  const end = error.position + Math.max(1, error.length)
  // A place behind the last character, as when a value is missing, still gets its caret.
  const first = all.findIndex((_, i) => (all[i + 1]?.index ?? error.expression.length) > error.position)
  const from = first < 0 ? all.length : first
  const marked = all.slice(from).filter((glyph) => glyph.index < end).length
  const { shown, before, cutStart, cutEnd } = windowAround(all, from, from + marked)

  const lead = cutStart ? '…' : ''
  const carets = Math.max(1, columns(shown.slice(before, before + marked)))
  const text = lead + shown.map((glyph) => glyph.shown).join('') + (cutEnd ? '…' : '')
  const blanks = ' '.repeat(lead.length + columns(shown.slice(0, before)))
  return [INDENT + text, INDENT + blanks + paint('red', '^'.repeat(carets))]
}

/** As many glyphs around [from, to) as fit the window. */
function windowAround(all: readonly Glyph[], from: number, to: number) {
  let start = Math.min(from, all.length)
  let end = start
  let width = 0
  const fits = (glyph: Glyph | undefined): boolean => glyph !== undefined && width + glyph.width <= WINDOW
  // First the place itself, then its surroundings from both sides.
  for (; end < to && fits(all[end]); end++) width += all[end]!.width
  for (let grew = true; grew; ) {
    grew = false
    if (fits(all[start - 1])) {
      width += all[--start]!.width
      grew = true
    }
    if (fits(all[end])) {
      width += all[end++]!.width
      grew = true
    }
  }
  return { shown: all.slice(start, end), before: from - start, cutStart: start > 0, cutEnd: end < all.length }
}

function columns(shown: readonly Glyph[]): number {
  return shown.reduce((sum, glyph) => sum + glyph.width, 0)
}

import { type CronceError, CronError } from 'cronce/cron'
import { type Glyph, glyphs, type Paint, sanitize } from './terminal.ts'

/** Columns of an expression shown around the trouble. */
const WINDOW = 72
const INDENT = '  '

/** Message, the expression with carets under the place, hint. For people, on stderr. */
export function errorText(error: CronceError, paint: Paint): string {
  const lines = [`${paint('red', 'error:')} ${sanitize(messageOf(error))}`]
  const hasFrame = error instanceof CronError && error.expression.trim() !== ''
  if (hasFrame) lines.push('', ...frame(error, paint))
  const hint = hintOf(error)
  if (hint !== undefined) lines.push(...(hasFrame ? [''] : []), `${paint('cyan', 'hint:')} ${sanitize(hint)}`)
  return `${lines.join('\n')}\n`
}

/** The same for programs: one JSON object. */
export function errorJson(error: CronceError): string {
  const { code } = error
  const message = messageOf(error)
  const hint = hintOf(error)
  if (!(error instanceof CronError)) return `${JSON.stringify({ error: { code, message, hint } })}\n`
  const { field, position, length, expected } = error
  return `${JSON.stringify({ error: { code, message, hint, field, position, length, expected } })}\n`
}

/** The library speaks of options; here they are flags. */
function messageOf({ code, message }: CronceError): string {
  return code === 'OPTION_INVALID' ? message.replace(/^The option ([a-z]+) can't be/, "--$1 can't be") : message
}

function hintOf(error: CronceError): string | undefined {
  if (error.code === 'SEED_MISSING')
    return 'Add --seed with the name of the schedule: the same seed gives the same time.'
  if (error.hint === undefined && error instanceof CronError && error.expected !== undefined)
    return `Expected ${error.expected}.`
  if (error.hint === 'Make to later than from.') return 'Make --to later than --from.'
  if (error.code === 'OPTION_INVALID') return error.hint?.replace(/^Write ([a-z]+): /, 'Write --$1 ')
  return error.hint
    ?.replace(/\b(?:set|use) the option (?=\w)/, 'add --')
    .replace(/\b(?:Set|Use) the option (?=\w)/, 'Add --')
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

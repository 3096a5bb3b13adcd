import type { Args, Flags } from './args.ts'
import type { Io } from './io.ts'
import { type Color, columnsOf, glyphs, type Paint, sanitize } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** The shape of what programs read. It changes with this number only; new fields may come at any time. */
export const OUTPUT_VERSION = 1

export const OUTPUT_FLAGS = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FORM',
    choices: ['table', 'wide', 'json', 'jsonl', 'name'],
    help: 'Format: table (default), wide (all columns), json (one object), jsonl (one object per line), name (names only)',
  },
  json: { type: 'boolean', help: 'The same as -o json: one object, {"version": 1, …}, and nothing else' },
} as const satisfies Flags

/** For commands that go on printing. */
export const STREAM_FLAGS = {
  jsonl: { type: 'boolean', help: 'One JSON object per line' },
} as const satisfies Flags

export type Form = 'table' | 'wide' | 'json' | 'jsonl' | 'name'

export function formOf(args: Args): Form {
  const named = args.text('output') as Form | undefined
  const short = args.has('json') ? 'json' : args.has('jsonl') ? 'jsonl' : undefined
  if (named !== undefined && short !== undefined && named !== short) {
    throw new UsageError(`-o ${named} and --${short} are two forms.`, 'Leave out one.')
  }
  return short ?? named ?? 'table'
}

/** Whether the answer is for programs, as far as raw arguments tell: they may be wrong in other ways. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const own = end < 0 ? argv : argv.slice(0, end)
  return own.some((arg, index) => {
    if (/^--jsonl?$|^(-o=?|--output=)jsonl?$/.test(arg)) return true
    return (arg === '-o' || arg === '--output') && /^jsonl?$/.test(own[index + 1] ?? '')
  })
}

export interface Column<T> {
  readonly title: string
  readonly value: (item: T) => string
  /** Only in the wide form. */
  readonly wide?: boolean
  readonly align?: 'right'
  readonly color?: (item: T) => Color | undefined
  /** Where one colour will not do. What is painted must stay as wide as it is. */
  readonly painted?: (text: string, paint: Paint) => string
  /** It gives way first where the terminal is too narrow. */
  readonly shrinks?: boolean
  /** It may be left out there, the highest number first: what it says is said elsewhere, or matters less. */
  readonly drop?: number
}

export interface Listing<T> {
  readonly items: readonly T[]
  /** What the next page comes after; `null`: this is all. */
  readonly next?: string | null
  readonly columns: readonly Column<T>[]
  readonly name: (item: T) => string
  /** The item for programs, where it is not what it is. */
  readonly json?: (item: T) => unknown
  /** What to say of an empty list, such as `No schedules.` */
  readonly empty: string
}

export function printList<T>(listing: Listing<T>, args: Args, io: Io): void {
  const { items, next = null, name, json = (item) => item } = listing
  const form = formOf(args)
  switch (form) {
    case 'json':
      printJson({ items: items.map(json), next }, io)
      return
    case 'jsonl':
      for (const item of items) printJsonLine(json(item), io)
      break
    case 'name':
      for (const item of items) io.out(`${sanitize(name(item))}\n`)
      break
    case 'table':
    case 'wide':
      if (items.length > 0) io.out(table(items, listing.columns, form === 'wide', io))
  }
  if (items.length === 0) io.err(`${listing.empty}\n`)
  if (next !== null) note(`There are more: add --all, or --after '${next}'.`, io)
}

/** One object for programs, `{ "version": 1, … }`. */
export function printJson(value: object, io: Io): void {
  io.out(`${JSON.stringify({ version: OUTPUT_VERSION, ...value })}\n`)
}

export function printJsonLine(value: unknown, io: Io): void {
  io.out(`${JSON.stringify(value)}\n`)
}

export function note(text: string, io: Io): void {
  io.err(`${io.paintErr('cyan', 'note:')} ${sanitize(text)}\n`)
}

export function warn(text: string, io: Io): void {
  io.err(`${io.paintErr('yellow', 'warning:')} ${sanitize(text)}\n`)
}

const GAP = '  '
/** What is left of a column that gives way. */
const NARROWEST = 8
/** And what it should have, before others are left out. */
const SHRUNK = 20

/** Columns that line up, cut to the width of the terminal; whole without a terminal. */
export function table<T>(items: readonly T[], columns: readonly Column<T>[], wide: boolean, io: Io): string {
  const room = wide ? null : io.columns
  const shown = affordable(
    columns.filter((column) => wide || !column.wide),
    items,
    room,
  )
  const cells = items.map((item) => shown.map((column) => sanitize(column.value(item))))
  const natural = shown.map(({ title }, i) => Math.max(title.length, ...cells.map((row) => columnsOf(row[i]!))))
  const widths = room === null ? natural : fitted(natural, shown, room)
  const line = (texts: readonly string[], paint: (index: number, text: string) => string): string => {
    const padded = texts.map((text, i) => {
      const cut = cutTo(text, widths[i]!)
      const blanks = ' '.repeat(Math.max(0, widths[i]! - columnsOf(cut)))
      const last = i === texts.length - 1
      if (shown[i]!.align === 'right') return blanks + paint(i, cut)
      return last ? paint(i, cut) : paint(i, cut) + blanks
    })
    return `${padded.join(GAP).trimEnd()}\n`
  }
  const head = line(
    shown.map(({ title }) => title),
    (_, text) => io.paint('dim', text),
  )
  const rows = items.map((item, row) =>
    line(cells[row]!, (i, text) => {
      const { color: colorOf, painted } = shown[i]!
      if (painted !== undefined) return painted(text, io.paint)
      const color = colorOf?.(item)
      return color === undefined ? text : io.paint(color, text)
    }),
  )
  return head + rows.join('')
}

/** Those that can stay, each with what it needs, or with a little if it may shrink. */
function affordable<T>(columns: readonly Column<T>[], items: readonly T[], room: number | null): readonly Column<T>[] {
  if (room === null) return columns
  const needs = (column: Column<T>): number => {
    const widest = Math.max(column.title.length, ...items.map((item) => columnsOf(sanitize(column.value(item)))))
    return (column.shrinks ? Math.min(widest, SHRUNK) : widest) + GAP.length
  }
  const kept = columns.map((column) => ({ column, width: needs(column) }))
  const droppable = kept.filter(({ column }) => column.drop !== undefined)
  droppable.sort((a, b) => a.column.drop! - b.column.drop!)
  while (kept.reduce((sum, { width }) => sum + width, -GAP.length) > room) {
    const next = droppable.pop()
    if (next === undefined) break
    kept.splice(kept.indexOf(next), 1)
  }
  return kept.map(({ column }) => column)
}

/** First those that may shrink give way, then the widest of all. */
function fitted(
  natural: readonly number[],
  columns: readonly { readonly shrinks?: boolean }[],
  room: number,
): number[] {
  const widths = [...natural]
  const shrinking = columns.map((column) => column.shrinks === true)
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - room
  for (const only of [true, false]) {
    while (excess > 0) {
      const candidates = widths.map((width, i) => ((only && !shrinking[i]) || width <= NARROWEST ? 0 : width))
      const widest = Math.max(...candidates)
      if (widest === 0) break
      widths[candidates.indexOf(widest)]!--
      excess--
    }
  }
  return widths
}

/** The beginning that fits, with a mark where the rest was. */
export function cutTo(text: string, width: number): string {
  if (columnsOf(text) <= width) return text
  let room = width - 1
  let cut = ''
  for (const glyph of glyphs(text)) {
    room -= glyph.width
    if (room < 0) break
    cut += glyph.shown
  }
  return `${cut}…`
}

import type { FireView, RunView } from 'cronce'
import type { Place, Slot, Status } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import { dueBetween, SCHEDULES } from './schedules.ts'
import { fit, type Style, type StyleName } from './style.ts'

/** All that a frame shows. */
export interface Scene {
  readonly title: string
  readonly places: readonly Place[]
  readonly fires: readonly FireView[]
  readonly runs: readonly RunView[]
  readonly slotOf: (instance: string) => Slot | undefined
  readonly events: readonly Told[]
  readonly ledger: Ledger
  readonly startAt: number
  readonly now: number
}

export interface Told {
  readonly kind: 'info' | 'fault' | 'good'
  readonly atMs: number
  readonly what: string
  readonly detail: string
}

const COLOURS: Record<Slot, StyleName> = { A: 'cyan', B: 'yellow', C: 'magenta' }
const STATUS: Record<Status, StyleName> = {
  starting: 'dim',
  live: 'green',
  'killed -9': 'red',
  paused: 'red',
  leaving: 'dim',
  gone: 'dim',
}
/** Below this, the picture is made smaller. */
const TALL = 30
const LABEL_WIDTH = 16
const WIDEST = 100
const NARROWEST = 60

/** As lines, no wider than the screen and no more than it has. What goes first when there is little room are old events. */
export function draw(scene: Scene, style: Style, columns: number, rows: number): string[] {
  const width = Math.max(NARROWEST, Math.min(WIDEST, columns)) - 1
  const gap = rows < TALL ? [] : ['']
  const columnLines = columnsOf(scene, style, width, rows < TALL ? 2 : 3)
  const above = [...head(scene, style, width), ...columnLines, ...gap, ...grid(scene, style, width), '']
  const below = ['', ledgerLine(scene.ledger, style)]
  const room = Math.max(0, rows - above.length - below.length - 1)
  const events = room === 0 ? [] : scene.events.slice(-room).map((told) => eventLine(told, style, width))
  return [...above, ...events, ...below].map((line) => fit(line, width))
}

function head({ title }: Scene, style: Style, width: number): string[] {
  const name = `${style('bold', ' cronce')}  every fire runs once: three processes, one SQLite file`
  return [fit(name, Math.max(0, width - title.length - 1)) + style('dim', title), '']
}

function columnsOf({ places }: Scene, style: Style, width: number, shown: number): string[] {
  const inner = Math.floor((width - 2) / places.length) - 3
  const boxes = places.map((place) => box(place, style, inner, shown))
  return boxes[0]!.map((_, row) => ` ${boxes.map((lines) => lines[row]).join(' ')}`)
}

function box(place: Place, style: Style, inner: number, shown: number): string[] {
  const colour = COLOURS[place.slot]
  const edge = (text: string): string => style(colour, text)
  const status = style(STATUS[place.status], place.status)
  const runs = [...place.running.values()].slice(0, shown).map(({ schedule, since }) => {
    const time = `${((performance.now() - since) / 1_000).toFixed(1)} s`
    return `${style(colour, '▸')} ${fit(schedule, 12)}${style('dim', time)}`
  })
  const lines = [`pid ${fit(String(place.pid), 8)}${status}`, ...runs]
  while (lines.length <= shown) lines.push('')
  const count = ` ${place.runs} runs `
  return [
    edge(`╭─ ${style('bold', place.slot)}${edge(` ${'─'.repeat(Math.max(0, inner - 5 - count.length))}${count}─╮`)}`),
    ...lines.map((line) => `${edge('│')}${fit(` ${line}`, inner)}${edge('│')}`),
    edge(`╰${'─'.repeat(inner)}╯`),
  ]
}

/** One row per schedule, two characters per second: which process ran what. */
function grid(scene: Scene, style: Style, width: number): string[] {
  const fires = new Map(scene.fires.map((fire) => [`${fire.schedule} ${fire.dueAt}`, fire]))
  const runs = Map.groupBy(scene.runs, ({ schedule, dueAt }) => `${schedule} ${dueAt}`)
  const shown = Math.floor((width - LABEL_WIDTH) / 2) - 1
  const to = Math.floor(scene.now / 1_000) * 1_000
  const from = Math.max(scene.startAt, to - (shown - 1) * 1_000)
  const lines = SCHEDULES.map(({ name, everyMs }) => {
    const due = new Set(dueBetween(everyMs, scene.startAt, to))
    let line = ` ${fit(name, 10)}${style('dim', fit(`${everyMs / 1_000}s`, LABEL_WIDTH - 11))}`
    for (let at = from; at <= to; at += 1_000) {
      const key = `${name} ${at}`
      line += due.has(at) ? cell(fires.get(key), runs.get(key) ?? [], scene, style) : '  '
    }
    return line
  })
  const legend = ' A ran it  a runs it  ↑ taken over  ° again after an error  · skipped  ✗ missed'
  return [...lines, style('dim', legend)]
}

function cell(fire: FireView | undefined, runs: readonly RunView[], { slotOf }: Scene, style: Style): string {
  if (fire === undefined) return '  '
  if (fire.state === 'skipped') return style('dim', '· ')
  if (fire.state === 'missed') return style('red', '✗ ')
  const last = runs.reduce<RunView | null>((best, run) => (run.attempt > (best?.attempt ?? 0) ? run : best), null)
  if (last === null) return style('dim', '… ')
  const slot = slotOf(last.instance)
  const isOver = fire.state === 'succeeded'
  const letter = slot === undefined ? '?' : isOver ? slot : slot.toLowerCase()
  const isTaken = runs.some(({ state }) => state === 'abandoned')
  const mark = isTaken ? style('red', '↑') : runs.length > 1 ? style('dim', '°') : ' '
  return style(slot === undefined ? 'dim' : COLOURS[slot], letter) + mark
}

const KINDS: Record<Told['kind'], StyleName> = { info: 'dim', fault: 'red', good: 'green' }

export function eventLine({ kind, atMs, what, detail }: Told, style: Style, width: number): string {
  const time = `${(atMs / 1_000).toFixed(1)} s`.padStart(7)
  return fit(`${style('dim', time)}  ${style(KINDS[kind], fit(what, 10))} ${detail}`, width).trimEnd()
}

/** The counters, in one line. */
export function ledgerLine(ledger: Ledger, style: Style): string {
  const zero = (name: string, items: readonly string[]): string =>
    style(items.length === 0 ? 'green' : 'red', `${name} ${items.length}`)
  const parts = [
    `due ${ledger.due}`,
    `ran ${ledger.ran}`,
    `skipped ${totalOf(ledger.skipped)}`,
    `missed ${totalOf(ledger.missed)}`,
    ...(underWay(ledger) > 0 ? [`under way ${underWay(ledger)}`] : []),
    ...(ledger.failed > 0 ? [style('red', `failed ${ledger.failed}`)] : []),
    zero('duplicates', ledger.duplicates),
    zero('lost', ledger.lost),
  ]
  return ` ${parts.join('  ')}`
}

/** Due by now, and not ended: in the end none. */
function underWay({ due, ran, failed, skipped, missed }: Ledger): number {
  return due - ran - failed - totalOf(skipped) - totalOf(missed)
}

export function totalOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

export function reasons(counts: ReadonlyMap<string, number>): string {
  const named = [...counts].map(([reason, count]) => (counts.size === 1 ? reason : `${count} ${reason}`))
  return named.length === 0 ? '0' : `${totalOf(counts)} (${named.join(', ')})`
}

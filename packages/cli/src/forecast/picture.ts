import { formatCount } from '../format.ts'
import type { Io } from '../io.ts'
import { cutTo } from '../output.ts'
import type { Hour } from './forecast.ts'

const HOUR_MS = 3_600_000
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const SHADES = ' ▁▂▃▄▅▆▇█'
const LABEL = 16

export function pictureHead(tz: string, io: Io): string {
  return io.paint('dim', `${cutTo(tz, LABEL - 1).padEnd(LABEL)}00    06    12    18`)
}

/** One line a day, one character an hour; more than two weeks are laid over each other by the day of the week. */
export function pictureOf(hours: readonly Hour[], days: number, io: Io): string[] {
  const most = hours.reduce((highest, { fires }) => Math.max(highest, fires), 0)
  const rows = new Map<string, number[]>()
  for (const { wall, fires } of hours) {
    const label = days <= 14 ? dayOf(wall) : WEEKDAYS[new Date(wall).getUTCDay()]!
    const row = rows.get(label) ?? Array.from({ length: 24 }, () => -1)
    const hour = Math.floor(wall / HOUR_MS) % 24
    row[hour] = Math.max(row[hour]!, fires)
    rows.set(label, row)
  }
  return [...rows].map(([label, row]) => {
    const bars = row.map((count) => (count < 0 ? ' ' : shadeOf(count, most))).join('')
    return `${label.padEnd(LABEL)}${io.paint('cyan', bars)}  ${formatCount(row.reduce((sum, count) => sum + Math.max(0, count), 0))}`
  })
}

function shadeOf(count: number, most: number): string {
  return count === 0 ? '·' : SHADES[Math.max(1, Math.ceil((count / most) * (SHADES.length - 1)))]!
}

export function dayOf(wall: number): string {
  return `${WEEKDAYS[new Date(wall).getUTCDay()]} ${new Date(wall).toISOString().slice(0, 10)}`
}

export function hourOf(wall: number): string {
  return new Date(wall).toISOString().slice(11, 16)
}

import type { RunView } from 'cronce'
import { formatTime } from './format.ts'
import type { Color, Paint } from './terminal.ts'
import { sanitize } from './terminal.ts'
import { offsetAt } from './zone.ts'

type Line = RunView['log'][number]

const COLORS: Readonly<Record<Line['level'], Color | undefined>> = {
  debug: 'dim',
  info: undefined,
  warn: 'yellow',
  error: 'red',
}

/** `12:00:01.250 warn  disk is almost full` */
export function logLine({ at, level, message }: Line, tz: string, paint: Paint): string {
  const time = paint('dim', formatTime(at + offsetAt(tz, at), 'millisecond'))
  const color = COLORS[level]
  const name = level.padEnd(5)
  // A message of several lines stays one, so that nothing can pretend to be a line of its own.
  const text = message.split(/\r?\n/).map(sanitize).join('\n                   ')
  return `${time} ${color === undefined ? name : paint(color, name)} ${text}`
}

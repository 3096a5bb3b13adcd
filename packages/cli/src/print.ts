import type { AtTrigger, CronTrigger, EveryTrigger } from 'cronce/cron'
import { formatDuration, formatLocal, formatUtc, precisionFor } from './format.ts'
import type { Paint } from './terminal.ts'
import { isUtc } from './zone.ts'
import { zoneMarks } from './zone-marks.ts'

/** One line per fire: in the zone, in UTC if that is another, how far away, and what a zone change did to it. */
export function fireLines(
  trigger: CronTrigger | EveryTrigger | AtTrigger,
  fires: readonly number[],
  { tz, from, paint }: { tz: string; from: number; paint: Paint },
): string[] {
  const precision = precisionFor(fires, tz)
  const marks = trigger.kind === 'cron' ? zoneMarks(trigger, fires) : new Map<number, string>()
  const distances = fires.map((fire) => `in ${formatDuration(fire - from)}`)
  const width = Math.max(0, ...distances.map((distance) => distance.length))
  return fires.map((fire, i) => {
    const mark = marks.get(fire)
    const distance = distances[i]!.padEnd(mark === undefined ? 0 : width)
    return [
      paint('bold', formatLocal(fire, tz, precision)),
      isUtc(tz) ? undefined : paint('dim', formatUtc(fire)),
      distance,
      mark === undefined ? undefined : paint('yellow', mark),
    ]
      .filter((column) => column !== undefined)
      .join('  ')
  })
}

import { readTime } from './time-words.ts'

/** The instant `--from` means. Without an offset it is a wall clock time of `tz`. */
export function readFrom(text: string, tz: string, now: number): number {
  return readTime(text, { name: '--from', tz, now })
}

import type { Instant, Time } from '../history.ts'

/** `2026-03-01 00:00:05`, in UTC; with milliseconds where there are any. */
export function describeInstant(instant: Instant): string {
  return new Date(instant)
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '')
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Time since the beginning, as exact as neighbours that are this far away need it: `0.25 s`, `12 s`, `1:05`, `2:00:00`, `3d 06:00`. */
export function describeTime(time: Time, stepMs: number): string {
  if (Math.abs(time) < MINUTE && stepMs < MINUTE) return `${trim(time / SECOND, stepMs)} s`
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const seconds = (time % MINUTE) / SECOND
  const clock = `${two((time % HOUR) / MINUTE)}:${two(seconds)}${stepMs < SECOND ? `.${trim(seconds % 1, stepMs).slice(2)}` : ''}`
  if (time < HOUR) return clock.replace(/^0/, '')
  if (time < DAY) return `${Math.floor(time / HOUR)}:${clock}`
  const day = `${Math.floor(time / DAY)}d`
  return stepMs >= DAY ? day : `${day} ${two((time % DAY) / HOUR)}:${stepMs >= MINUTE ? clock.slice(0, 2) : clock}`
}

function trim(seconds: number, stepMs: number): string {
  return seconds.toFixed(stepMs >= SECOND ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3)
}

/** In the largest unit that it is a whole number of: `90 s`, `10 h`. */
export function describeLength(ms: number): string {
  const units = [
    [HOUR, 'h'],
    [MINUTE, 'min'],
  ] as const
  const whole = units.find(([unit]) => ms >= unit && ms % unit === 0)
  return whole === undefined ? `${ms / SECOND} s` : `${ms / whole[0]} ${whole[1]}`
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500]
  .concat([1, 2, 5, 10, 15, 30].map((count) => count * SECOND))
  .concat([1, 2, 5, 10, 15, 30].map((count) => count * MINUTE))
  .concat([1, 2, 3, 6, 12].map((count) => count * HOUR))
  .concat([1, 2, 5, 10, 20, 50, 100].map((count) => count * DAY))

/** Round times, at most `most` of them. */
export function chooseTicks(from: Time, to: Time, most: number): { readonly stepMs: number; readonly ticks: Time[] } {
  const stepMs = STEPS.find((step) => (to - from) / step <= most) ?? Math.ceil((to - from) / most / DAY) * DAY
  const ticks: Time[] = []
  for (let tick = Math.ceil(from / stepMs) * stepMs; tick <= to; tick += stepMs) ticks.push(tick)
  return { stepMs, ticks }
}

/** `1,204 fires`, `1 fire`. */
export function countOf(count: number, noun: string): string {
  return `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${noun}${count === 1 ? '' : 's'}`
}

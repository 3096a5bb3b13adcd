/**
 * One cron library as the benchmark sees it. `S` is the library's own schedule object, kept bare: a wrapper of ours
 * would be measured along with it.
 */
export interface Library<S = unknown> {
  /** False for a library that only knows the zone of the host. */
  readonly zones: boolean
  /** `zone` undefined: no zone is passed, and the library uses the zone of the host. */
  parse(expression: string, zone: string | undefined): S
  /** Epoch milliseconds strictly after `from`; `NO_FIRE` if the schedule has no further fire. */
  next(schedule: S, from: number): number
  /** Epoch milliseconds strictly before `from`. */
  prev?(schedule: S, from: number): number
  /** For a schedule which carries its own position: put it at `from`, so that `step` can do without. */
  rewind?(schedule: S, from: number): void
  /** `next`, when `from` is what `rewind` or the last `step` left. Absent: `next` is as good. */
  step?(schedule: S, from: number): number
}

/** A number rather than null, so that every adapter returns one type and sums need no test. */
export const NO_FIRE = -1

export const OURS = 'cronce'

/** Ours first. The names are those of the npm packages. */
export const LIBRARY_NAMES = [
  OURS,
  'cron-schedule',
  'cronosjs',
  'node-cron',
  'croner',
  'cron-parser',
  '@datasert/cronjs-matcher',
] as const

export type LibraryName = (typeof LIBRARY_NAMES)[number]

/** Imports one adapter and with it one library: a child must not carry the others in its heap. */
export async function loadLibrary(name: LibraryName): Promise<Library> {
  switch (name) {
    case 'cronce':
      return (await import('./libraries/cronce.ts')).library
    case 'cron-schedule':
      return (await import('./libraries/cron-schedule.ts')).library
    case 'cronosjs':
      return (await import('./libraries/cronosjs.ts')).library
    case 'node-cron':
      return (await import('./libraries/node-cron.ts')).library
    case 'croner':
      return (await import('./libraries/croner.ts')).library
    case 'cron-parser':
      return (await import('./libraries/cron-parser.ts')).library
    case '@datasert/cronjs-matcher':
      return (await import('./libraries/cronjs.ts')).library
  }
}

/** `@datasert/cronjs-matcher` is too long for a column. */
export function shortName(name: LibraryName): string {
  return name === '@datasert/cronjs-matcher' ? 'cronjs' : name
}

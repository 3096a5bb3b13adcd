import { formatCount } from '../format.ts'
import type { Io } from '../io.ts'
import { sanitize } from '../terminal.ts'

/** A line of the answer. */
export function say(text: string, io: Io): void {
  io.out(`${sanitize(text)}\n`)
}

/** `1 fire`, `12 fires`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** The first few of a list, and that there are more. */
export function firstFew(names: readonly string[], total = names.length, most = 5): string {
  const shown = names.slice(0, most).join(', ')
  return total > Math.min(most, names.length) ? `${shown}, …` : shown
}

/** Of what no record is kept, the answer says who wanted it and why, for those who keep that. */
export function whyWords({ author, note }: { readonly author: string; readonly note?: string }): string {
  return note === undefined ? '' : ` By ${author}: ${note}`
}

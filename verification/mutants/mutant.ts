/** The product with one realistic mistake, which the named judge must notice. */
export interface Mutant {
  readonly name: string
  /** What it breaks: a promise, a rule about faults (docs/verification.md), or one of the mistakes that schedulers are known for. */
  readonly rule: string
  readonly breaks: string
  readonly edits: readonly Edit[]
  readonly caughtBy: CaughtBy
}

export interface Edit {
  /** Below `packages/cronce/src`; a name that begins with `packages/` is a whole path. */
  readonly file: string
  /** The text in the source, which occurs nowhere else in that file. */
  readonly find: string
  readonly replace: string
  /** How often it occurs. */
  readonly count: number
}

export type CaughtBy =
  /** By one of these properties of the checker or invariants of the store. */
  | { readonly judge: 'simulation'; readonly names: readonly string[] }
  /** By one of these tests of this file. For what the simulated store can't show. */
  | { readonly judge: 'tests'; readonly file: string; readonly names: readonly string[] }

export function edit(file: string, find: string, replace: string, count = 1): Edit {
  return { file, find, replace, count }
}

/**
 * The source with the mistake. An edit that does not match is an error: a mutant without effect would prove nothing.
 */
export function mutate(mutant: Mutant, file: string, source: string): string {
  let text = source
  for (const { find, replace, count } of mutant.edits.filter((one) => one.file === file)) {
    const parts = text.split(find)
    if (parts.length - 1 !== count) {
      throw new Error(`Mutant ${mutant.name}: ${file} has ${parts.length - 1} places, not ${count}, with:\n${find}`)
    }
    text = parts.join(replace)
  }
  return text
}

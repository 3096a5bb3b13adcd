import { createHash } from 'node:crypto'
import { slug } from '../import/job-names.ts'

/** Kubernetes adds eleven characters for the Job, and has 63 for a name. */
const LONGEST = 52
const HASH = 6

/**
 * Names as RFC 1123 has them. Those that are such names already keep them; others are made so, with a hash where that would
 * belong to another program.
 */
export function k8sNames(names: readonly string[]): ReadonlyMap<string, string> {
  const fits = (name: string): boolean => name.length <= LONGEST && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)
  const given = new Map(names.filter(fits).map((name) => [name, name]))
  const taken = new Set(given.values())
  // In the order of the names, not of the file: the same jobs have the same names, however they are sorted.
  for (const name of names.filter((each) => !fits(each)).toSorted()) {
    const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH)
    const plain = slug(name, LONGEST)
    const isWhole = plain !== '' && plain.length === slug(name, Number.POSITIVE_INFINITY).length
    const hashed = [slug(name, LONGEST - HASH - 1), hash].filter((part) => part !== '').join('-')
    const made = isWhole && !taken.has(plain) ? plain : hashed
    given.set(name, made)
    taken.add(made)
  }
  return given
}

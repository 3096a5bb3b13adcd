import { readFileSync, writeFileSync } from 'node:fs'
import type { Judged } from './judge.ts'

/** A seed that has shown a mutant, so that a short run need not look for one; and how long that took. */
export interface SavedSeed {
  readonly seed: number
  readonly seconds: number
}

const FILE = new URL('seeds.json', import.meta.url)

export function savedSeeds(): ReadonlyMap<string, SavedSeed> {
  return new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, SavedSeed>))
}

/** Those that were found now, beside those of mutants that were not judged now. */
export function saveSeeds(judged: readonly Judged[]): void {
  const seeds = new Map(savedSeeds())
  for (const { mutant, verdict, seed, tried, seconds } of judged) {
    seeds.delete(mutant.name)
    if (verdict !== 'caught' || seed === null) continue
    seeds.set(mutant.name, { seed, seconds: Math.round((seconds / tried) * 10) / 10 })
  }
  const sorted = [...seeds].sort(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

/** The names of those that take the least time, of a few seeds only: those are run without a mutant, too. */
export function quickest(count: number): ReadonlySet<string> {
  const all = [...savedSeeds()].sort(([, one], [, other]) => one.seed - other.seed || one.seconds - other.seconds)
  return new Set(all.slice(0, count).map(([name]) => name))
}

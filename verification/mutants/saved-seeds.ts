import { readFileSync, writeFileSync } from 'node:fs'
import type { Judged } from './judge.ts'

/** For each mutant a seed that has shown it, so that a short run need not look for one. */
const FILE = new URL('seeds.json', import.meta.url)

export function savedSeeds(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>
}

export function saveSeeds(judged: readonly Judged[]): void {
  const found = judged.flatMap(({ mutant, verdict, seed }) =>
    verdict === 'caught' && seed !== null ? [[mutant.name, seed] as const] : [],
  )
  const seeds = { ...savedSeeds(), ...Object.fromEntries(found) }
  const sorted = Object.fromEntries(Object.entries(seeds).sort(([one], [other]) => (one < other ? -1 : 1)))
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`)
}

import { registerHooks } from 'node:module'
import { compileLua } from '../../scripts/compile-lua.ts'
import { edit, type Mutant, mutate } from '../mutants/mutant.ts'

/**
 * Loaded before everything else, this makes the process run a mutant of the Redis store: MUTANT says which. See
 * `verification/mutants/load-mutant.ts`, whose mutants are judged without a server.
 */
const MUTANTS: readonly Pick<Mutant, 'name' | 'edits'>[] = [
  {
    // Mutant: a decision is written even if the state has changed since it was made.
    name: 'redis-no-version-check',
    edits: [
      edit('store/redis/lua/apply.lua', " or version ~= (exists and was_version or '0') then", ' then'),
      edit('store/redis/lua/plain.lua', 'if known[n] and sub(known[n], 1, #head) == head then', 'if known[n] then'),
    ],
  },
]

const SOURCE = new URL('../../packages/cronce/src/', import.meta.url).href
const { MUTANT } = process.env
const mutant = MUTANTS.find(({ name }) => name === MUTANT)
if (mutant === undefined) throw new Error(`There is no mutant named '${MUTANT}'.`)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const file = url.slice(SOURCE.length)
    if (file === 'store/redis/scripts.ts') {
      return { ...loaded, source: compileLua((name, lua) => mutate(mutant as Mutant, `store/redis/lua/${name}`, lua)) }
    }
    if (!url.startsWith(SOURCE) || !loaded.source || mutant.edits.every((edit) => edit.file !== file)) return loaded
    const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
    return { ...loaded, source: mutate(mutant as Mutant, file, source) }
  },
})

import { registerHooks } from 'node:module'
import { compileLua } from '../../scripts/compile-lua.ts'
import { compile, TARGETS } from '../../scripts/compile-statements.ts'
import { mutate } from './mutant.ts'
import { findMutant } from './mutants.ts'

/**
 * Loaded before everything else, this makes the process run a mutant: the source of the product is changed on its way from the
 * file to the engine of the language. The product itself has no switch for it.
 *
 *     MUTANT=no-token-check node --import ./verification/mutants/load-mutant.ts …
 */
const ROOT = new URL('../../', import.meta.url).href
const SOURCE = new URL('packages/cronce/src/', ROOT).href
/** The other packages, by their whole paths. */
const OTHERS = new URL('packages/', ROOT).href
/** Compiled from the Lua files, which the edits are about. */
const SCRIPTS = 'store/redis/scripts.ts'
const LUA = 'store/redis/lua/'
/** Compiled from the SQL files. */
const STATEMENTS = 'store/postgres/statements.ts'
const SQL = 'store/postgres/sql/'
const { MUTANT = '' } = process.env
const mutant = findMutant(MUTANT)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith(OTHERS) || loaded.source === undefined || loaded.source === null) return loaded
    const file = url.slice((url.startsWith(SOURCE) ? SOURCE : ROOT).length)
    if (file === SCRIPTS && mutant.edits.some((edit) => edit.file.startsWith(LUA))) {
      return { ...loaded, source: compileLua((name, lua) => mutate(mutant, `${LUA}${name}`, lua)) }
    }
    if (file === STATEMENTS && mutant.edits.some((edit) => edit.file.startsWith(SQL))) {
      return { ...loaded, source: compile(TARGETS[0]!, (name, sql) => mutate(mutant, `${SQL}${name}`, sql)) }
    }
    if (!mutant.edits.some((edit) => edit.file === file)) return loaded
    return { ...loaded, source: mutate(mutant, file, textOf(loaded.source)) }
  },
})

function textOf(source: string | ArrayBuffer | NodeJS.TypedArray): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source)
}

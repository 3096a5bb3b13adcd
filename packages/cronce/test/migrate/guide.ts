import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const SOURCE = join(import.meta.dirname, '../../src')
const GUIDES = join(import.meta.dirname, '../../../../docs/migrate')

const STORES = ['DATABASE_URL', 'REDIS_URL', 'sqlite:./cronce.db'] as const

/** A guide's programs: what release one may be during the switch, and what it is afterwards, in the same order. */
export interface Guide {
  readonly name: string
  readonly switches: readonly string[]
  readonly after: readonly string[]
  /** Where the programs have their store: in a variable, or in a file. */
  readonly store: 'DATABASE_URL' | 'REDIS_URL' | 'sqlite:./cronce.db'
}

export function readGuides(): Guide[] {
  const files = readdirSync(GUIDES).filter((file) => file.endsWith('.md') && file !== 'README.md')
  return files.map((file) => {
    const text = readFileSync(join(GUIDES, file), 'utf8')
    const programs = (kind: string): string[] =>
      [...text.matchAll(new RegExp(`^\`\`\`ts ${kind}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code]) => runnable(code!))
    const after = programs('after')
    return {
      ...{ name: file.replace('.md', ''), switches: programs('switch'), after },
      store: STORES.find((store) => after.every((program) => program.includes(store)))!,
    }
  })
}

/**
 * As it stands, but every second rather than every night, and with the library as it is in this checkout. Schedulers that know
 * minutes only keep their night.
 */
function runnable(code: string): string {
  return code
    .replace(/(?<=cron: |\.schedule\(|pattern: )'0 3 \* \* \*'/g, "'* * * * * *'")
    .replace(
      / from 'cronce(?:\/([\w-]+))?'/g,
      (_, entry = 'index') => ` from '${pathToFileURL(join(SOURCE, `${entry}.ts`))}'`,
    )
}

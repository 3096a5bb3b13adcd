import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const SOURCE = join(import.meta.dirname, '../../src')
const QUEUES = join(import.meta.dirname, '../../../queues/src')
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

/** The programs of one kind on a page, in order. */
export function programsOf(text: string, kind: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`ts ${kind}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code]) =>
    runnable(code!),
  )
}

/** Node.js runs no decorators: the guide for Nest is followed in its package. */
const FOLLOWED_ELSEWHERE = ['README.md', 'nestjs-schedule.md']

export function readGuides(): Guide[] {
  const files = readdirSync(GUIDES).filter((file) => file.endsWith('.md') && !FOLLOWED_ELSEWHERE.includes(file))
  return files.map((file) => {
    const text = readFileSync(join(GUIDES, file), 'utf8')
    const after = programsOf(text, 'after')
    return {
      ...{ name: file.replace('.md', ''), switches: programsOf(text, 'switch'), after },
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
      / from '@cronce\/queues\/([\w-]+)'/g,
      (_, entry) => ` from '${pathToFileURL(join(QUEUES, `${entry}.ts`))}'`,
    )
    .replace(
      / from 'cronce(?:\/([\w-]+))?'/g,
      (_, entry = 'index') => ` from '${pathToFileURL(join(SOURCE, `${entry}.ts`))}'`,
    )
}

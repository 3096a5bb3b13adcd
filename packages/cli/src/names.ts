import type { Client } from 'cronce'
import { CronceError } from 'cronce/cron'
import { UsageError } from './usage-error.ts'

/** Some schedules by a pattern: `*` stands for any characters, `?` for one. */
export interface Glob {
  readonly text: string
  /** What every name that matches begins with. */
  readonly prefix: string
  readonly matches: (name: string) => boolean
}

/** `null`: it is a name. */
export function readGlob(text: string): Glob | null {
  const wild = text.search(/[*?]/)
  if (wild < 0) return null
  const source = text.replaceAll(/\*+|[^*]/gu, (part) =>
    part.startsWith('*') ? '.*' : part === '?' ? '.' : part.replace(/[\\^$.|+()[\]{}/-]/, '\\$&'),
  )
  const pattern = new RegExp(`^${source}$`, 'su')
  return { text, prefix: text.slice(0, wild), matches: (name) => pattern.test(name) }
}

/** Beyond this many, asking for each would be too much for one answer. */
const MOST_NAMES = 100

/** The schedules that are meant by names and patterns, each once. A name stays as it is, whether or not it is a schedule. */
export async function expandNames(client: Client, given: readonly string[]): Promise<readonly string[]> {
  const names = new Set<string>()
  for (const text of given) for (const name of await expandName(client, text)) names.add(name)
  return [...names]
}

async function expandName(client: Client, text: string): Promise<readonly string[]> {
  const glob = readGlob(text)
  // A schedule may be called so.
  if (glob === null || (await client.schedules.find(text)) !== null) return [text]
  const names: string[] = []
  for await (const { name } of client.schedules.all({ prefix: glob.prefix === '' ? undefined : glob.prefix })) {
    if (!glob.matches(name)) continue
    names.push(name)
    if (names.length > MOST_NAMES) {
      throw new UsageError(`More than ${MOST_NAMES} schedules match "${text}".`, 'Narrow it down, or use --job.')
    }
  }
  if (names.length > 0) return names
  throw new CronceError('SCHEDULE_NOT_FOUND', `No schedule matches ${JSON.stringify(text)}.`, {
    hint: 'List the schedules to see their names: cronce list.',
  })
}

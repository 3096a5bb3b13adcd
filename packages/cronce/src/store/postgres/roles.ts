import { MIGRATIONS } from './migrations/migrations.ts'
import { quoteName, quoteSchema } from './schema-name.ts'

/**
 * Roles that work with the schema, besides its owner. Instances need no right to change tables; dashboards and people need no
 * right on the tables.
 */
export interface Roles {
  /** For instances and clients of the app. */
  readonly runtime?: string | undefined
  /** For reading the views, and nothing else. */
  readonly viewer?: string | undefined
}

/** What the migrations create, in order. Viewers get the views, the runtime all the rest. Functions include their arguments. */
export function namesMade(kind: 'table' | 'view' | 'function'): string[] {
  const pattern = new RegExp(`^create ${kind} s\\.(\\w+${kind === 'function' ? '\\([^)]*\\)' : ''})`, 'gm')
  const made = MIGRATIONS.flatMap(({ sql }) => [...sql('s').matchAll(pattern)])
  // Long lists of parameters are written on lines of their own.
  return made.map((match) => match[1]!.replaceAll(/\s*\n\s*(?=\))|(?<=\()\s*\n\s*/g, '').replaceAll(/\s+/g, ' '))
}

/** SQL that gives these roles what they need. May be run again, and must be after a migration: new tables have no grants. */
export function grantsSql(name: string, { runtime, viewer }: Roles): string {
  const schema = quoteSchema(name)
  const list = (kind: 'table' | 'view' | 'function'): string =>
    namesMade(kind)
      // A function that takes a row names its table.
      .map((made) => `${schema}.${made.replaceAll(' s.', ` ${schema}.`)}`)
      .join(', ')
  const lines: string[] = []
  if (runtime !== undefined) {
    const role = quoteName(runtime)
    lines.push(
      `grant usage on schema ${schema} to ${role};`,
      `grant select, insert, update, delete on ${list('table')} to ${role};`,
      `grant select on ${schema}._migrations to ${role};`,
      `grant execute on function ${list('function')} to ${role};`,
    )
  }
  if (viewer !== undefined) {
    const role = quoteName(viewer)
    lines.push(`grant usage on schema ${schema} to ${role};`, `grant select on ${list('view')} to ${role};`)
  }
  return lines.map((line) => `${line}\n`).join('')
}

import type { OpenOptions } from '../store.ts'
import type { Database, Statement } from './database.ts'

/** A text of the answer: `null` if the server does not know the setting. */
type Settings = Readonly<Record<(typeof NAMES)[number], string | null>>

const NAMES = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'default_transaction_isolation',
  'default_transaction_read_only',
  'idle_session_timeout',
] as const

interface Answer {
  readonly settings: Settings
  readonly unlogged: readonly string[]
  readonly secured: readonly string[]
}

/** The settings of the connections that run our statements: a role or a database may have its own. */
const SETTINGS: Statement = {
  name: 'settings',
  sql: `
select json_build_object(
         'settings', json_build_object(${NAMES.map((name) => `'${name}', current_setting('${name}', true)`).join(', ')}),
         'unlogged', ${tablesWhere("c.relpersistence = 'u'")},
         'secured', ${tablesWhere("c.relrowsecurity and (c.relforcerowsecurity or not pg_has_role(c.relowner, 'usage'))")}
       )::text as answer`,
}

function tablesWhere(condition: string): string {
  return `(
           select coalesce(json_agg(c.relname order by c.relname), '[]')
             from pg_catalog.pg_class c
             join pg_catalog.pg_namespace n on n.oid = c.relnamespace
            where n.nspname = $1::text and c.relkind in ('r', 'p') and left(c.relname, 1) = '_' and ${condition}
         )`
}

/**
 * Warns of settings that break the guarantees or make them slower. Nothing is refused: turning `fsync` off for tests, for example,
 * is fine.
 */
export async function checkSettings(database: Database, name: string, warn: OpenOptions['warn']): Promise<void> {
  const answer = JSON.parse(await database.ask(SETTINGS, [name])) as Answer
  for (const message of complaints(answer)) warn('STORE_SETTING_UNSAFE', `${database.name}: ${message}`)
}

function complaints({ settings, unlogged, secured }: Answer): string[] {
  const found: string[] = []
  if (settings.fsync === 'off') {
    found.push(
      'fsync is off. After a crash of its machine the database may be damaged, and jobs run twice. Turn it on.',
    )
  }
  if (settings.full_page_writes === 'off') {
    found.push(
      'full_page_writes is off. After a crash of its machine the database may be damaged. Turn it on, unless the file system writes whole pages at once.',
    )
  }
  if (settings.synchronous_commit === 'off') {
    found.push(
      'synchronous_commit is off. A crash of the server takes back what it acknowledged last: fires that ran may run again, with tokens that were given out before. ' +
        'Turn it on for this role: alter role … set synchronous_commit = on.',
    )
  }
  if (settings.default_transaction_isolation !== 'read committed') {
    found.push(
      `default_transaction_isolation is "${settings.default_transaction_isolation}". Fleet-wide limits may be exceeded, and an instance that loses a race gets an error, waits and tries again. ` +
        "Set it for this role: alter role … set default_transaction_isolation = 'read committed'.",
    )
  }
  if (settings.default_transaction_read_only === 'on') {
    found.push('default_transaction_read_only is on. Nothing can be written. Turn it off for this role.')
  }
  if (settings.idle_session_timeout !== null && settings.idle_session_timeout !== '0') {
    found.push(
      `idle_session_timeout is ${settings.idle_session_timeout}. The session that hears of wake-ups and of dead instances is ended again and again. ` +
        'Turn it off for this role: alter role … set idle_session_timeout = 0.',
    )
  }
  if (unlogged.length > 0) {
    found.push(
      `${unlogged.join(', ')} ${unlogged.length === 1 ? 'is' : 'are'} unlogged, and empty after a crash of the server. Use: alter table … set logged.`,
    )
  }
  if (secured.length > 0) {
    found.push(
      `row level security is enabled on ${secured.join(', ')}. Fires in rows that this role cannot see never run. Disable it: roles and grants are enough.`,
    )
  }
  return found
}

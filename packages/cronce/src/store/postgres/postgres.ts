import { nameOfUrl } from '../name-of-url.ts'
import type { StoreSource } from '../store.ts'
import { demandOptions, optionsInvalid as invalid } from '../store-options.ts'
import type { Database } from './database.ts'
import { settleIdentity } from './identity.ts'
import { openerOf, type TransactionOf, type TransactionOpener } from './library.ts'
import { migrateUp, requireMigrated } from './migrate.ts'
import { demandTarget, openDatabase, type Target } from './open.ts'
import { DEFAULT_SCHEMA, quoteSchema } from './schema-name.ts'
import { schemaOfUrl } from './schema-of-url.ts'
import { checkSettings } from './settings.ts'
import { openStore } from './store.ts'

/** Options of `postgres()`. */
export interface PostgresOptions<Opener extends TransactionOpener | undefined = TransactionOpener | undefined> {
  /** Where the tables are. @default `?schema=` of the URL, or 'cronce' */
  readonly schema?: string | undefined
  /** `auto` brings the schema up to date when the store is opened: for development and tests. @default 'never' */
  readonly migrate?: 'auto' | 'never' | undefined
  /** A URL around a connection pooler, for the one connection that tells of deaths and wake-ups at once. */
  readonly directUrl?: string | undefined
  /** Keep that connection at all. @default true */
  readonly session?: boolean | undefined
  /**
   * What opens the transactions of jobs: a database of Drizzle, a `Kysely`, a `Knex`, a `PrismaClient`, or a function such as
   * `(work: (tx: EntityManager) => Promise<void>) => source.transaction(work)`. Jobs get its own transaction as `tx`.
   * @default the target
   */
  readonly transaction?: Opener
  /** Prepare statements by name. @default unless a pooler stands in between */
  readonly prepare?: boolean | undefined
  /** The longest that a statement may take, the wait for a connection included. @default 5000 */
  readonly timeoutMs?: number | undefined
  /** From a URL, how many for statements; transactions of jobs take all but one. Beside them is the session. @default 2 */
  readonly connections?: number | undefined
  /** Take over a database that was copied or restored. @default false */
  readonly adopt?: boolean | undefined
}

const NAMES = [
  'schema',
  'migrate',
  'directUrl',
  'session',
  'transaction',
  'prepare',
  'timeoutMs',
  'connections',
  'adopt',
] satisfies (keyof PostgresOptions)[]

const FOREIGN = {
  searchPath: 'schema',
  max: 'connections',
  poolSize: 'connections',
  statement_timeout: 'timeoutMs',
  direct: 'directUrl',
}

/**
 * A store in PostgreSQL: by URL, with connections of its own, or through what the application has: a `Pool` of pg, an `sql` of
 * postgres.js, a database of Drizzle, or anything with `query(text, values)`.
 */
export function postgres<Given extends Target, Opener extends TransactionOpener | undefined = undefined>(
  target: Given,
  options?: PostgresOptions<Opener>,
): StoreSource<TransactionOf<Opener extends undefined ? Given : Opener>>
/**
 * If the parameter of the function has no type, `tx` is unknown: name the type, `(work: (tx: EntityManager) => Promise<void>) =>
 * …`.
 */
export function postgres(
  target: Target,
  options: PostgresOptions<(work: (tx: unknown) => Promise<void>) => Promise<unknown>>,
): StoreSource
export function postgres<Tx>(target: Target, options: PostgresOptions = {}): StoreSource<Tx> {
  demandTarget(target)
  checkOptions(options)
  const named = typeof target === 'string' ? schemaOfUrl(target) : { url: target, schema: undefined }
  const { schema = named.schema ?? DEFAULT_SCHEMA, migrate = 'never', adopt = false, ...connecting } = options
  quoteSchema(schema)
  return {
    name: (typeof target === 'string' ? nameOfUrl(target) : null) ?? 'postgres',
    async open(given) {
      const { warn } = given
      const database = openDatabase(named.url, { ...connecting, warn }) as Database<Tx>
      try {
        if (migrate === 'auto') await migrateUp(database as Database, schema)
        else await requireMigrated(database as Database, schema)
        const epoch = await settleIdentity(database as Database, schema, { adopt: given.adopt || adopt, warn })
        await checkSettings(database as Database, schema, warn)
        return openStore(database, schema, epoch, given)
      } catch (error) {
        await database.close()
        throw error
      }
    },
  }
}

function checkOptions(options: PostgresOptions): void {
  demandOptions('a PostgreSQL store', options, NAMES, FOREIGN)
  const { migrate, adopt, transaction } = options
  if (migrate !== undefined && migrate !== 'auto' && migrate !== 'never') {
    throw invalid(`The option migrate can't be ${JSON.stringify(migrate)}.`, "Write 'auto' or 'never'.")
  }
  if (adopt !== undefined && typeof adopt !== 'boolean')
    throw invalid('The option adopt must be true or false.', 'Write true or false.')
  checkNumbers(options)
  if (transaction !== undefined && openerOf(transaction) === null) {
    throw invalid(
      'The option transaction must be a database of Drizzle, a Kysely, a Knex, a PrismaClient, or a function that opens a transaction.',
      'Write transaction: db, or transaction: (work) => db.transaction(work).',
    )
  }
}

function checkNumbers({ timeoutMs, connections }: PostgresOptions): void {
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 100)) {
    throw invalid('The option timeoutMs must be a number of milliseconds, at least 100.', 'Leave it out for 5000.')
  }
  if (connections !== undefined && !(Number.isInteger(connections) && connections >= 1)) {
    throw invalid('The option connections must be a whole number, at least 1.', 'Leave it out for 2.')
  }
}

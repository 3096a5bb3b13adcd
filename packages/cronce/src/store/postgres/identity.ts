import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Database, Statement } from './database.ts'
import { sqlStateOf } from './errors.ts'
import { quoteSchema } from './schema-name.ts'

/**
 * Which server, which database, and which history of it. `null`: this server does not report it, or not to this role; unknown
 * parts are not compared.
 */
interface Identity {
  /** Created with the server's files, and kept by physical copies and standbys. */
  readonly systemId: string | null
  /** The database and the table in it: a restored dump has other ones, even in the same database. */
  readonly databaseId: string
  /** Timeline of the write-ahead log: a new one after each promotion. */
  readonly timeline: number | null
}

interface Stored {
  readonly systemId: string | null
  readonly databaseId: string | null
  readonly timeline: number | null
  readonly epoch: number
}

const SERIALIZATION_FAILURE = '40001'

interface Answer {
  /** As it was before this statement. */
  readonly stored: Stored
  /** As it is now. */
  readonly epoch: number
  /** This statement changed it. */
  readonly won: boolean
}

const FACTS: Statement = {
  name: 'identity-facts',
  sql: `
select json_build_object(
         'recovering', pg_is_in_recovery(),
         'database', current_database(),
         'systemKnown', coalesce(has_function_privilege(to_regprocedure('pg_catalog.pg_control_system()'), 'execute'), false),
         'timelineKnown', coalesce(has_function_privilege(to_regprocedure('pg_catalog.pg_walfile_name(pg_lsn)'), 'execute'), false)
       )::text as answer`,
}

const SYSTEM: Statement = {
  name: 'identity-system',
  sql: 'select system_identifier::text as answer from pg_control_system()',
}

/** In the form of `clockCte`, which compares it in every statement. */
const TIMELINE: Statement = {
  name: 'identity-timeline',
  sql: "select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint::text as answer",
}

function databaseIdStatement(schema: string): Statement {
  return {
    name: 'identity-database',
    sql: `
select d.oid::text || '.' || m.tableoid::text as answer
  from ${schema}._meta m, pg_catalog.pg_database d
 where d.datname = current_database()`,
  }
}

/**
 * Reads the stored identity and changes it by compare-and-set. $1 to $3 are the identity ('' for unknown), $4 whether another one
 * is taken over. Of two processes the second finds nothing to change.
 */
function settleStatement(schema: string): Statement {
  return {
    name: 'identity-settle',
    sql: `
with now as (
  select nullif($1::text, '') as system_id, $2::text as database_id, nullif($3::text, '')::bigint as timeline
), stored as materialized (
  select * from ${schema}._meta
), judged as (
  select now.*,
         coalesce(stored.database_id <> now.database_id or stored.system_id <> now.system_id, false) as copied,
         coalesce(stored.timeline <> now.timeline, false) as promoted
    from now, stored
), settled as (
  update ${schema}._meta m
     set system_id = coalesce(j.system_id, case when j.copied then null else m.system_id end),
         database_id = j.database_id,
         timeline = coalesce(j.timeline, case when j.copied then null else m.timeline end),
         epoch = m.epoch + case when j.copied or j.promoted then 1 else 0 end
    from judged j, stored s
   where (not j.copied or $4::text = 'adopt')
     and m.epoch = s.epoch
     and m.database_id is not distinct from s.database_id
     and m.system_id is not distinct from s.system_id
     and m.timeline is not distinct from s.timeline
     and (j.copied or j.promoted or m.database_id is null
          or (m.system_id is null and j.system_id is not null) or (m.timeline is null and j.timeline is not null))
  returning m.epoch
), dead as (
  update ${schema}._instances i
     set state = 'dead', ended_at = floor(extract(epoch from clock_timestamp()) * 1000)::bigint
    from settled, judged j
   where j.copied and i.state in ('live', 'draining')
)
select json_build_object(
         'stored', json_build_object('systemId', s.system_id, 'databaseId', s.database_id, 'timeline', s.timeline, 'epoch', s.epoch),
         'epoch', coalesce((select epoch from settled), s.epoch),
         'won', exists (select from settled)
       )::text as answer
  from stored s`,
  }
}

/**
 * The epoch of the store. A copy is refused: it knows all schedules of the original, and would run them a second time. Adopted,
 * it goes on in a new epoch, above every token of the original, and without the original's instances. Where a standby was
 * promoted, the epoch moves up by itself, since the standby may lack what the old server had acknowledged.
 */
export async function settleIdentity(
  database: Database,
  name: string,
  { adopt, warn }: Pick<OpenOptions, 'adopt' | 'warn'>,
): Promise<number> {
  const schema = quoteSchema(name)
  const current = await identify(database, schema, warn)
  const { systemId, databaseId, timeline } = current
  const values = [systemId ?? '', databaseId, timeline === null ? '' : String(timeline), adopt ? 'adopt' : '']
  // Each lost race means that another process changed the row, so it must be checked again.
  for (let look = 0; look < 10; look++) {
    const answer = await settle(database, schema, values)
    if (answer === null) continue
    const { stored, epoch, won } = answer
    const copied = isCopy(stored, current)
    if (copied && !adopt) throw copiedError(database, stored, current)
    if (!copied && !isPromoted(stored, current)) return epoch
    if (!won) continue
    if (copied)
      warn('STORE_ADOPTED', `${database.name} was taken over: epoch ${epoch}. All earlier instances count as dead.`)
    else warn('STORE_PROMOTED', promotedWords(database, stored.timeline!, timeline!, epoch))
    return epoch
  }
  throw new StoreError('STORE_FAILED', `The identity of ${database.name} keeps changing.`, {
    hint: 'Make sure that all connections of the pool lead to the same server.',
  })
}

/** `null`: a serialization conflict with another process. The database's default isolation level is stricter than ours needs. */
async function settle(database: Database, schema: string, values: readonly string[]): Promise<Answer | null> {
  try {
    return JSON.parse(await database.ask(settleStatement(schema), values)) as Answer
  } catch (error) {
    if (sqlStateOf(error) === SERIALIZATION_FAILURE) return null
    throw error
  }
}

/**
 * The epoch to continue in, after a statement found the server on another timeline than the one on record. Every process that
 * finds that calls this; one moves the epoch and reports it, the others continue in it.
 */
export function moveEpoch(database: Database, name: string, warn: OpenOptions['warn']): Promise<number> {
  return settleIdentity(database, name, { adopt: false, warn })
}

async function identify(database: Database, schema: string, warn: OpenOptions['warn']): Promise<Identity> {
  const facts = JSON.parse(await database.ask(FACTS, [])) as {
    readonly recovering: boolean
    readonly database: string
    readonly systemKnown: boolean
    readonly timelineKnown: boolean
  }
  if (facts.recovering) {
    throw new StoreError('STORE_READONLY', `${database.name} is a standby: it can be read only.`, {
      hint: 'Connect to the primary.',
    })
  }
  const systemId = facts.systemKnown ? await askIfOffered(database, SYSTEM) : null
  const timeline = facts.timelineKnown ? await askIfOffered(database, TIMELINE) : null
  const unknown = [systemId === null ? 'its system identifier' : '', timeline === null ? 'its timeline' : '']
  const missing = unknown.filter((what) => what !== '').join(' and ')
  if (missing !== '') {
    warn('STORE_IDENTITY_UNKNOWN', `${database.name} does not report ${missing}: ${consequence(systemId, timeline)}`)
  }
  const databaseId = await database.ask(databaseIdStatement(schema), [])
  return { systemId, databaseId, timeline: timeline === null ? null : Number(timeline) }
}

function consequence(systemId: string | null, timeline: string | null): string {
  const copy = 'a copy of the whole server cannot be told from the original'
  const promotion = 'after a failover that loses writes, tokens may come a second time'
  return `${[systemId === null ? copy : '', timeline === null ? promotion : ''].filter((what) => what !== '').join(', and ')}.`
}

/** Servers that only imitate PostgreSQL, and some hosted ones, have the function but refuse to answer. */
async function askIfOffered(database: Database, statement: Statement): Promise<string | null> {
  try {
    return await database.ask(statement, [])
  } catch (error) {
    if (NOT_OFFERED.has(sqlStateOf(error))) return null
    throw error
  }
}

/** feature_not_supported, insufficient_privilege, undefined_function, object_not_in_prerequisite_state */
const NOT_OFFERED: ReadonlySet<string | null> = new Set(['0A000', '42501', '42883', '55000'])

function isCopy(stored: Stored, current: Identity): boolean {
  if (stored.databaseId !== null && stored.databaseId !== current.databaseId) return true
  return stored.systemId !== null && current.systemId !== null && stored.systemId !== current.systemId
}

function isPromoted(stored: Stored, current: Identity): boolean {
  return stored.timeline !== null && current.timeline !== null && stored.timeline !== current.timeline
}

function copiedError({ name }: Database, stored: Stored, current: Identity): StoreError {
  const otherServer = stored.systemId !== null && current.systemId !== null && stored.systemId !== current.systemId
  const what = otherServer ? 'comes from another server' : 'comes from another database, or from a dump'
  return new StoreError(
    'STORE_COPIED',
    `The data in ${name} ${what}: its schedules may be running there, too. Nothing runs here.`,
    { hint: 'If the original is gone for good, start once with adopt; else drop the schema and migrate again.' },
  )
}

function promotedWords({ name }: Database, from: number, to: number, epoch: number): string {
  return (
    `${name} is on timeline ${to} and was on ${from}: a standby was promoted, or a backup restored in its place. ` +
    'What the old server had acknowledged last may be lost: fires that ran there may run again, changes to schedules may be undone. ' +
    `If the old server is still up, stop it. From here on in epoch ${epoch}: nothing that was decided before is written. ` +
    'Look at the latest fires: app.fires.list({ order: "latest" }), or the view "fires".'
  )
}

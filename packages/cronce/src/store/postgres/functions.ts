import { COUNTS_KEPT_MS } from '../../model/hours.ts'
import { ENDED_LOOKED } from '../store.ts'
import type { Statement } from './database.ts'
import { AS_DUE, FORMAT, NONE, REASONS_EACH, TROUBLE } from './rows.ts'
import { SQL } from './statements.ts'

/**
 * The statements of every fire are database functions: planned once per connection, even behind a pooler, and always with the
 * indexes, whatever the statistics said. None waits long for a lock: a process that is paused with one must not block the
 * connections of its peers.
 */
const settings = (volatility: 'stable' | 'volatile', lockTimeout: string): string => `language plpgsql ${volatility}
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set lock_timeout = '${lockTimeout}'
set plan_cache_mode = force_generic_plan`

/** How many rows after the due ones are searched for the next due time. */
const FAR = 1_000
/** If none of them is in an own bucket, none is expected to be due soon, but that is not certain. */
const AGAIN_MS = 20
/** Up to this many: keys of a claim are looked up again rather than dropped with another write, and definitions come along unasked. */
const FEW = 8

/** Values of the placeholders in braces. */
function placed(text: string, schema: string): string {
  const values: Readonly<Record<string, string>> = {
    schema,
    settings: settings('volatile', '1500ms'),
    // The caller's snapshot is older than the clock that is read here: nothing that is answered was written after its `now`.
    reads: settings('stable', '1500ms'),
    // The general statement, which waits for no clock, takes over.
    hasty: settings('volatile', '50ms'),
    none: String(NONE),
    as_due: String(AS_DUE),
    format: String(FORMAT),
    trouble: String(TROUBLE),
    each: String(REASONS_EACH),
    counted: String(COUNTS_KEPT_MS),
    far: String(FAR),
    again: String(AGAIN_MS),
    few: String(FEW),
    ended: String(ENDED_LOOKED),
  }
  return text
    .replaceAll('{states}', () => SQL.states)
    .replaceAll('{definitions}', () => SQL.definitionColumns)
    .replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** SQL that creates all tables and functions. Roles that call the functions need the rights on the tables. */
export function createSchema(schema: string): string {
  const { tables, records, schedules, apply, plain, instances, prune } = SQL
  return [tables, records, schedules, apply, plain, instances, prune]
    .map((text) => `${placed(text, schema)}\n`)
    .join('\n')
}

/** How many texts each function takes. Names carry a number: a changed function gets the next number, beside the old one. */
const CALLS = {
  load: ['_load_1', 2],
  due: ['_due_1', 6],
  lock: ['_lock_1', 3],
  apply: ['_apply_1', 3],
  claim: ['_claim_1', 12],
  settle: ['_settle_1', 16],
  beat: ['_beat_1', 2],
  bury: ['_bury_1', 4],
  prune: ['_prune_1', 2],
  erase: ['_erase_1', 3],
  ends: ['_ends_1', 3],
} as const

const NAMED = [
  'look',
  'definitions',
  'newer',
  'warmUp',
  'drain',
  'listInstances',
  'findInstances',
  'beginStep',
  'endStep',
  'listSteps',
  'annotate',
  'listLatest',
  'countFires',
  'loadApp',
  'saveApp',
] as const

export type Statements = Readonly<Record<keyof typeof CALLS | (typeof NAMED)[number], Statement>>

export function storeStatements(schema: string): Statements {
  const calls = Object.entries(CALLS).map(([name, [made, texts]]) => {
    const values = Array.from({ length: texts }, (_, index) => `$${index + 1}::text`)
    return [name, { name, sql: `select ${schema}.${made}(${values.join(', ')}) as answer` }]
  })
  const named = NAMED.map((name) => [name, { name, sql: placed(SQL[name], schema) }])
  return Object.fromEntries([...calls, ...named]) as Statements
}

import { applySql } from './apply-sql.ts'
import type { Statement } from './database.ts'
import { beatSql } from './instances.ts'
import { pruneSql } from './prune.ts'
import { dueSql, loadSql } from './schedules.ts'
import { lockFirstSql, lockSql } from './transact.ts'

/**
 * The statements of every fire are functions of the database: planned once for each connection, also behind a pooler, and always
 * with the indexes, whatever the tables' statistics happened to say on that day. A plan made while a table was empty reads all of it
 * when it is not. None waits long for a lock: whoever is paused with one must not take the others' connections with it.
 *
 * Their names carry a number. What changes gets the next one, beside the old one, which those who have not been deployed yet
 * still call.
 */
export interface StoreFunction {
  readonly name: string
  /** How many texts it takes. */
  readonly texts: number
  /** What is done before, with a snapshot of its own. */
  readonly first?: (schema: string) => string
  readonly sql: (schema: string) => string
}

const FUNCTIONS = {
  load: { name: '_load_1', texts: 2, sql: loadSql },
  due: { name: '_due_1', texts: 4, sql: dueSql },
  beat: { name: '_beat_1', texts: 2, sql: beatSql },
  lock: { name: '_lock_1', texts: 3, first: lockFirstSql, sql: lockSql },
  prune: { name: '_prune_1', texts: 2, sql: pruneSql },
  apply: { name: '_apply_1', texts: 8, sql: (schema) => applySql(schema, { slots: false, trims: false }) },
  applySlots: { name: '_apply_slots_1', texts: 8, sql: (schema) => applySql(schema, { slots: true, trims: false }) },
  applyTrims: { name: '_apply_trims_1', texts: 8, sql: (schema) => applySql(schema, { slots: false, trims: true }) },
  applyAll: { name: '_apply_all_1', texts: 8, sql: (schema) => applySql(schema, { slots: true, trims: true }) },
} as const satisfies Record<string, StoreFunction>

export type FunctionName = keyof typeof FUNCTIONS

/** SQL that makes all of them. Who calls them needs the rights on the tables. */
export function createFunctions(schema: string): string {
  return Object.values(FUNCTIONS)
    .map(
      ({ name, texts, first, sql }: StoreFunction) => `
create function ${schema}.${name}(${Array.from({ length: texts }, () => 'text').join(', ')}) returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set lock_timeout = '1500ms'
set plan_cache_mode = force_generic_plan
as $cronce$
#variable_conflict use_column
declare
  _answer text;
begin
  ${first === undefined ? '' : `${first(schema)};`}${intoAnswer(sql(schema))};
  return _answer;
end
$cronce$;
`,
    )
    .join('')
}

/** The last select, which alone stands at the beginning of a line, answers. */
function intoAnswer(sql: string): string {
  const last = sql.lastIndexOf('\nselect ')
  const from = sql.indexOf('\n  from ', last)
  return `${sql.slice(0, last)}\nselect answer into _answer from (${sql.slice(last + 1, from)} as answer${sql.slice(from)}) last`
}

/** The calls of all of them. */
export function storeFunctions(schema: string): Readonly<Record<FunctionName, Statement>> {
  const call = ({ name, texts }: StoreFunction): Statement => {
    const values = Array.from({ length: texts }, (_, index) => `$${index + 1}::text`)
    return { name, sql: `select ${schema}.${name}(${values.join(', ')}) as answer` }
  }
  const entries = Object.entries(FUNCTIONS).map(([key, made]) => [key, call(made)])
  return Object.fromEntries(entries) as Record<FunctionName, Statement>
}

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

/** Loaded when a store is opened: users of other stores need not have it, and get no warning that it is experimental. */
export type Driver = typeof import('node:sqlite')

export function loadDriver(): Promise<Driver> {
  return import('node:sqlite')
}

/** Columns that the statements here return; each statement has some of them. */
export type Row = { readonly [Name in Column]?: SQLOutputValue }

type Column =
  | 'application_id'
  | 'at'
  | 'beat'
  | 'begun_at'
  | 'boot'
  | 'busy'
  | 'definition'
  | 'drain'
  | 'due_at'
  | 'ended'
  | 'ended_at'
  | 'fires'
  | 'format'
  | 'held_slots'
  | 'hour'
  | 'id'
  | 'instance'
  | 'is_final'
  | 'job'
  | 'journal_mode'
  | 'key'
  | 'lease_ms'
  | 'line'
  | 'lines'
  | 'mark'
  | 'nonce'
  | 'notes'
  | 'open_fires'
  | 'outcome'
  | 'position'
  | 'record'
  | 'renewals'
  | 'renewed_at'
  | 'renewed_mono'
  | 'result'
  | 'revision'
  | 'runs'
  | 'schedule'
  | 'slot'
  | 'started_at'
  | 'state'
  | 'step'
  | 'tenant'
  | 'token'
  | 'tokens'
  | 'value'
  | 'version'
  | 'wake_at'

/** The parts of a prepared statement that are used here. */
export interface Statement {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  run(...values: SQLInputValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
}

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** The statement of this text, prepared once per connection. Texts are constants or built from a few, so this is bounded. */
export function statement(db: DatabaseSync, sql: string): Statement {
  let statements = prepared.get(db)
  if (statements === undefined) {
    statements = new Map()
    prepared.set(db, statements)
  }
  let found = statements.get(sql)
  if (found === undefined) {
    found = db.prepare(sql)
    // The user's own connection may have another setting.
    found.setReturnArrays(false)
    found.setReadBigInts(false)
    statements.set(sql, found)
  }
  return found
}

export function forgetStatements(db: DatabaseSync): void {
  prepared.delete(db)
}

import { readdirSync, readFileSync } from 'node:fs'
import { type BenchDatabase, type BenchServer, tell } from './server.ts'

/** What the server has done so far for one database; WAL and CPU are the whole server's, which does nothing else. */
export interface Reading {
  readonly statements: number
  readonly transactions: number
  readonly walBytes: number
  readonly cpuMs: number
}

/** One kind of statement and what it has cost so far. */
export interface StatementCost {
  readonly text: string
  readonly calls: number
  readonly rows: number
  readonly planMs: number
  readonly execMs: number
  readonly walBytes: number
}

export async function read({ name, server }: BenchDatabase): Promise<Reading> {
  const { rows } = await server.admin.query<{ readonly [Name in keyof Reading]: string }>(
    `select
       (select coalesce(sum(calls), 0) from pg_stat_statements where dbid = (select oid from pg_database where datname = $1)) as statements,
       (select xact_commit + xact_rollback from pg_stat_database where datname = $1) as transactions,
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn as "walBytes"`,
    [name],
  )
  const { statements, transactions, walBytes } = rows[0]!
  return {
    statements: Number(statements),
    transactions: Number(transactions),
    walBytes: Number(walBytes),
    cpuMs: serverCpuMs(server),
  }
}

/** By the time that they took in all, the most expensive first. */
export async function statementsOf({ name, server }: BenchDatabase): Promise<StatementCost[]> {
  const { rows } = await server.admin.query<Readonly<Record<keyof StatementCost, string>>>(
    `select query as text, sum(calls) as calls, sum(rows) as rows, sum(total_plan_time) as "planMs",
       sum(total_exec_time) as "execMs", sum(wal_bytes) as "walBytes"
     from pg_stat_statements where dbid = (select oid from pg_database where datname = $1)
     group by query order by sum(total_plan_time + total_exec_time) desc`,
    [name],
  )
  return rows.map(({ text, ...numbers }) => ({
    text,
    calls: Number(numbers.calls),
    rows: Number(numbers.rows),
    planMs: Number(numbers.planMs),
    execMs: Number(numbers.execMs),
    walBytes: Number(numbers.walBytes),
  }))
}

export async function forgetStatements({ server }: BenchDatabase): Promise<void> {
  await server.admin.query('select pg_stat_statements_reset()')
}

export async function connectionsOf({ name, server }: BenchDatabase): Promise<number> {
  const { rows } = await server.admin.query<{ readonly count: string }>(
    `select count(*) from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
    [name],
  )
  return Number(rows[0]!.count)
}

/** Of a table: how many updates needed no new index entries, and what is left to clean. */
export interface TableUse {
  readonly table: string
  readonly inserted: number
  readonly updated: number
  readonly hot: number
  readonly deleted: number
  readonly dead: number
  readonly bytes: number
}

/** Backends report when they go idle or end, so this is for after the fleet has stopped. */
export async function tablesOf(database: BenchDatabase): Promise<TableUse[]> {
  const rows = await tell<Readonly<Record<keyof TableUse, string>>>(
    database,
    `select relname as "table", n_tup_ins as inserted, n_tup_upd as updated, n_tup_hot_upd as hot, n_tup_del as deleted,
       n_dead_tup as dead, pg_total_relation_size(relid) as bytes
     from pg_stat_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0 order by n_tup_ins + n_tup_upd + n_tup_del desc`,
  )
  return rows.map(({ table, ...numbers }) => ({
    table,
    inserted: Number(numbers.inserted),
    updated: Number(numbers.updated),
    hot: Number(numbers.hot),
    deleted: Number(numbers.deleted),
    dead: Number(numbers.dead),
    bytes: Number(numbers.bytes),
  }))
}

/** What /proc counts in, on every Linux there is. */
const TICK_MS = 10

/** All processes of the server: current backends, and through the main process those that have ended. */
export function serverCpuMs({ pid }: BenchServer): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const found = statOf(name)
    if (found === undefined) continue
    if (Number(name) === pid) ticks += found.own + found.ended
    else if (found.parent === pid) ticks += found.own
  }
  return ticks * TICK_MS
}

function statOf(pid: string): { readonly parent: number; readonly own: number; readonly ended: number } | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined // It ended between the listing and here.
  }
  // The name in parentheses may contain anything; behind it come the state, the parent, …
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index])
  return { parent: number(1), own: number(11) + number(12), ended: number(13) + number(14) }
}

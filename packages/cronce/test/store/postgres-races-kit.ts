import { after, before, type TestContext } from 'node:test'
import pg from 'pg'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { type PostgresOptions, postgres } from '../../src/store/postgres/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from './postgres-connection-kit.ts'
import { afterwards } from './sqlite-kit.ts'

export let server: Server
export let pool: pg.Pool

before(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  pool = new pg.Pool({ connectionString: server.url, max: 8 })
  // A transaction that reaches this trigger waits until the test releases it. The store's own timeout must not end it
  // before.
  await pool.query(`
    create function stay() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin
      perform pg_advisory_xact_lock_shared(1);
      if tg_op = 'DELETE' then return old; end if;
      return new;
    end $$`)
})

after(async () => {
  await pool.end()
  await server.stop()
})

type Opening = PostgresOptions & { readonly on?: pg.Pool | string }

export async function openIn(context: TestContext, { on = pool, ...options }: Opening = {}): Promise<Store> {
  const source = postgres(on, { migrate: 'auto', session: false, ...options })
  const store = await source.open({ namespace: context.name, adopt: false, production: false, warn: () => {} })
  afterwards(context, () => store.close())
  return store as Store
}

export function poolFor(context: TestContext, options: pg.PoolConfig): pg.Pool {
  const own = new pg.Pool({ connectionString: server.url, ...options })
  afterwards(context, () => own.end())
  return own
}

/** A transaction of the user's, open until the test ends it. */
export async function begun(context: TestContext, begin = 'begin'): Promise<pg.PoolClient> {
  const client = await pool.connect()
  afterwards(context, async () => {
    await client.query('rollback')
    client.release()
  })
  await client.query(begin)
  return client
}

/** Blocks transactions that do this. Returns a function that releases them. */
export async function barrier(context: TestContext, event: string, when = 'true'): Promise<() => Promise<void>> {
  // Registered before the guard, so that it runs after: the trigger cannot be dropped while a transaction waits in it.
  afterwards(context, () => pool.query(`drop trigger if exists stay ${event.slice(event.indexOf(' on '))}`))
  const guard = await begun(context)
  await guard.query('select pg_advisory_xact_lock(1)')
  await pool.query(`create trigger stay before ${event} for each row when (${when}) execute function stay()`)
  return async () => {
    await guard.query('commit')
  }
}

/** Sessions of this name stop right after they have read the clock of a statement. Returns a function that releases them. */
export async function holdClock(context: TestContext, name: string): Promise<() => Promise<void>> {
  const { rows } = await pool.query<{ sql: string }>(`select pg_get_functiondef('cronce._moment'::regproc) as sql`)
  afterwards(context, () => pool.query(rows[0]!.sql))
  const guard = await begun(context)
  await guard.query('select pg_advisory_xact_lock(2)')
  const held = rows[0]!.sql.replace('._moment()', '._moment_now()')
  await pool.query(`${held};
    create or replace function cronce._moment() returns table (now bigint, epoch bigint, moved boolean)
    language plpgsql stable set lock_timeout = 0 as $$
    begin
      select * into now, epoch, moved from cronce._moment_now();
      if current_setting('application_name') = '${name}' then perform pg_advisory_xact_lock_shared(2); end if;
      return next;
    end $$`)
  return async () => {
    await guard.query('commit')
  }
}

/** Until this many sessions wait for a lock. */
export function waiting(count = 1): Promise<void> {
  return eventually(`${count} wait for a lock`, async () => {
    const { rows } = await pool.query('select from pg_locks where not granted')
    return rows.length >= count
  })
}

/** How many open runs count against each slot. */
export async function usedSlots({ name }: TestContext): Promise<Record<string, number>> {
  const sql = 'select slot, count(*)::integer as used from cronce._holds where namespace = $1 group by slot'
  const { rows } = await pool.query<{ slot: string; used: number }>(sql, [name])
  return Object.fromEntries(rows.map(({ slot, used }) => [slot, used]))
}

export function kinds({ results }: { readonly results: readonly { readonly kind: string }[] }): string[] {
  return results.map(({ kind }) => kind)
}

import { loadIfInstalled } from '../../load-if-installed.ts'
import { StoreError } from '../../store-error.ts'
import type { Connect } from './connection.ts'
import { connectPg, type PgClientClass } from './pg.ts'
import { connectPostgresJs, type PostgresJs } from './postgres-js.ts'

/** How to connect to this URL, with the installed driver. */
export async function connectorFor(url: string): Promise<Connect> {
  const pg = await loadIfInstalled(() => import('pg'), 'pg')
  if (pg !== null) {
    const Client = (pg.default?.Client ?? pg.Client) as unknown as PgClientClass
    return (timeoutMs) => connectPg(Client, { connectionString: url }, timeoutMs)
  }
  const postgres = await loadPostgresJs()
  if (postgres !== null) return (timeoutMs) => connectPostgresJs(postgres, url, timeoutMs)
  const place = import.meta.dirname.replace(/[\\/]node_modules[\\/].*$/, '')
  throw new StoreError('STORE_DRIVER_MISSING', `There is no driver for PostgreSQL: pg was looked for in ${place}.`, {
    hint: 'Run npm install pg there; or, for a command, start it in the project that has pg: npx cronce.',
  })
}

export async function loadPostgresJs(): Promise<PostgresJs | null> {
  const postgres = await loadIfInstalled(() => import('postgres'), 'postgres')
  return postgres === null ? null : (postgres.default as unknown as PostgresJs)
}

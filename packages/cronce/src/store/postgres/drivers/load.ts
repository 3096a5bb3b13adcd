import { PostgresStoreError } from '../errors.ts'
import type { Connect } from './connection.ts'
import { connectPg, type PgClientClass } from './pg.ts'
import { connectPostgresJs, type PostgresJs } from './postgres-js.ts'

/** How to connect to this URL, by whichever driver is installed. */
export async function connectorFor(url: string): Promise<Connect> {
  const pg = await load(() => import('pg'), 'pg')
  if (pg !== null) {
    const Client = (pg.default?.Client ?? pg.Client) as unknown as PgClientClass
    return (timeoutMs) => connectPg(Client, { connectionString: url }, timeoutMs)
  }
  const postgres = await loadPostgresJs()
  if (postgres !== null) return (timeoutMs) => connectPostgresJs(postgres, url, timeoutMs)
  throw new PostgresStoreError('STORE_DRIVER_MISSING', 'There is no driver for PostgreSQL.', {
    hint: 'Run npm install pg.',
  })
}

export async function loadPostgresJs(): Promise<PostgresJs | null> {
  const postgres = await load(() => import('postgres'), 'postgres')
  return postgres === null ? null : (postgres.default as unknown as PostgresJs)
}

/** `null`: it is not installed. One that is there and broken says so itself. */
async function load<Module>(load: () => Promise<Module>, name: string): Promise<Module | null> {
  try {
    return await load()
  } catch (error) {
    const isMissing =
      error instanceof Error &&
      'code' in error &&
      /^ERR_MODULE_NOT_FOUND$/.test(String(error.code)) &&
      error.message.includes(`'${name}'`)
    if (isMissing) return null
    throw error
  }
}

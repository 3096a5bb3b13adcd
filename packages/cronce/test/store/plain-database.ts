import { Client } from 'pg'
import type { Database } from '../../src/store/postgres/database.ts'
import { translate } from '../../src/store/postgres/errors.ts'

/** One connection and nothing else: for tests of what runs before a store is open. */
export async function plainDatabase(url: string): Promise<Database> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const refuse = (): never => {
    throw new Error('There is no such thing here')
  }
  const query = async (sql: string, values?: readonly string[]) => {
    try {
      const results = await client.query(sql, values as string[])
      const rows = (Array.isArray(results) ? results.at(-1) : results).rows
      return rows as readonly Readonly<Record<string, unknown>>[]
    } catch (error) {
      throw translate(error, 'the database', 'sent')
    }
  }
  return {
    name: 'postgres://localhost/test',
    transactions: false,
    ask: async ({ sql }, values) => {
      const [{ answer } = {}] = await query(sql, values)
      return String(answer)
    },
    askIn: refuse,
    script: (sql) => query(sql),
    transaction: refuse,
    session: async () => null,
    close: () => client.end(),
  }
}

/** The rows of the last statement, with these columns. */
export async function rowsOf<Column extends string>(
  database: Database,
  sql: string,
): Promise<Readonly<Record<Column, unknown>>[]> {
  return (await database.script(sql)) as Readonly<Record<Column, unknown>>[]
}

/** The same server, with another user or database. */
export function urlWith(url: string, { user, password, database }: UrlParts): string {
  const changed = new URL(url)
  if (user !== undefined) changed.username = user
  if (password !== undefined) changed.password = password
  if (database !== undefined) changed.pathname = `/${database}`
  return changed.href
}

interface UrlParts {
  readonly user?: string
  readonly password?: string
  readonly database?: string
}

import { silent, translate } from '../errors.ts'
import { type Connect, within } from './connection.ts'
import type { Driver } from './driver.ts'

/** Any object that runs a statement on its own. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>
}

export function isQueryable(target: unknown): target is Queryable {
  return typeof target === 'object' && target !== null && 'query' in target && typeof target.query === 'function'
}

/** Statements only: nothing is known about its connections. */
export function queryableDriver(queryable: Queryable, name: string, connect: Connect | null): Driver {
  const run = async (text: string, values: readonly string[] | undefined, leftMs: number, timeoutMs: number) => {
    try {
      const asked = queryable.query(text, ...(values === undefined ? [] : [[...values]]))
      const result = await within(asked, leftMs, () => {
        throw silent(name, timeoutMs, false)
      })
      const last = Array.isArray(result) ? result.at(-1) : result
      return last.rows as Awaited<ReturnType<Queryable['query']>>['rows']
    } catch (error) {
      throw translate(error, name, 'sent')
    }
  }
  return {
    name,
    connect,
    begin: null,
    query: ({ text, values }, { leftMs, timeoutMs }) => run(text, values, leftMs(), timeoutMs),
    script: (sql, { leftMs, timeoutMs }) => run(sql, undefined, leftMs(), timeoutMs),
    close: async () => {},
  }
}

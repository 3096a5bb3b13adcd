import type { StoreSource } from 'cronce'
import { sqlite } from 'cronce/sqlite'

/** Until there is a store for PostgreSQL, the benchmark itself is tried on a file. */
export async function sourceOf(url: string): Promise<StoreSource> {
  if (url.startsWith('sqlite:')) return sqlite(url.slice('sqlite:'.length)) as StoreSource
  const entry = 'cronce/postgres'
  const { postgres } = (await import(entry)) as {
    readonly postgres: (url: string, options: { readonly migrate: 'auto' }) => StoreSource
  }
  return postgres(url, { migrate: 'auto' })
}

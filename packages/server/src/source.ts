import type { Connection, Cronce } from 'cronce'

/** What the API is about: an app, which may run jobs in this process, or the client alone. */
export type Source = Cronce | Connection

/** What only an app can do. */
export function appOf(source: Source): Cronce | null {
  return 'job' in source ? source : null
}

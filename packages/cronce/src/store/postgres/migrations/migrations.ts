import { createSchema } from '../functions.ts'
import { views } from './views.ts'

export interface Migration {
  /** One more than the previous number. */
  readonly number: number
  readonly name: string
  /** Code without this migration can't work on its result. The previous release must work, so additions come first. */
  readonly breaking: boolean
  /** `schema` is quoted. Whole statements, all of which can be run in one transaction. */
  readonly sql: (schema: string) => string
}

/** Never change a released migration: add the next one. */
export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    name: 'one history per schedule',
    breaking: true,
    sql: (schema) => createSchema(schema) + views(schema),
  },
]

import { createSchema } from '../functions.ts'
import { views } from './views.ts'

export interface Migration {
  /** One more than the one before it. */
  readonly number: number
  readonly name: string
  /** Code that does not know this migration can't work on what it makes. One release back must work, so first comes what adds. */
  readonly breaking: boolean
  /** `schema` is quoted. Whole statements, all of which can be run in one transaction. */
  readonly sql: (schema: string) => string
}

/** Never change one that was released: add the next. */
export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    name: 'one history per schedule',
    breaking: true,
    sql: (schema) => createSchema(schema) + views(schema),
  },
]

import { refuse } from './answer.ts'
import type { Route } from './routes/route.ts'

/** Answers have no entity tags: a client that sends one relies on a check that is not made. */
export function demandKnownConditions({ access }: Route, { headers }: Request): void {
  if (access !== 'operate') return
  for (const name of ['If-Match', 'If-None-Match']) {
    const value = headers.get(name)
    if (value === null || value === '*') continue
    const message = `${name} can't be ${JSON.stringify(value.slice(0, 60))}: there are no entity tags here.`
    throw refuse('OPTION_INVALID', message, `Send ${name}: *, or leave it out.`)
  }
}

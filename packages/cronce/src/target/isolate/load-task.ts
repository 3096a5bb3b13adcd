import { pathToFileURL } from 'node:url'
import { CronceError } from '../../errors.ts'
import type { Run } from '../../run/run.ts'

export async function loadTask(file: string): Promise<(run: Run) => unknown> {
  const loaded = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
  const handler = functionOf(loaded.default)
  if (handler !== null) return handler
  const error = new CronceError('HANDLER_MISSING', `The default export of ${file} is not a function.`, {
    hint: 'Write export default async function (run) { … } there.',
  })
  throw Object.assign(error, { retryable: false })
}

/** CommonJS that was compiled from a module has its default export one deeper. */
function functionOf(exported: unknown): ((run: Run) => unknown) | null {
  if (typeof exported === 'function') return exported as (run: Run) => unknown
  const inner = (exported as { readonly default?: unknown } | null | undefined)?.default
  return typeof inner === 'function' ? (inner as (run: Run) => unknown) : null
}

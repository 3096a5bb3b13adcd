import { pathToFileURL } from 'node:url'
import { CronceError } from '../errors.ts'

type BackgroundFn = (context: unknown) => unknown

export async function loadBackgroundTask(file: string): Promise<BackgroundFn> {
  const loaded = (await import(pathToFileURL(file).href)) as Exporting & { readonly default?: Exporting }
  // CommonJS may have it one deeper.
  const task = loaded.task ?? loaded.default?.task
  if (typeof task === 'function') return task as BackgroundFn
  const error = new CronceError('HANDLER_MISSING', `${file} exports no function named task.`, {
    hint: 'Write export function task(context) { … } there.',
  })
  throw Object.assign(error, { retryable: false })
}

interface Exporting {
  readonly task?: unknown
}

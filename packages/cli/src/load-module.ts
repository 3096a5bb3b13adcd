import { pathToFileURL } from 'node:url'

/**
 * The user's own file, TypeScript as it is. The one place where what is imported is known to the running program only.
 * A `version` makes Node read the file again although it has read it before.
 */
export async function loadModule(file: string, version?: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file)
  if (version !== undefined) url.searchParams.set('version', version)
  return (await import(url.href)) as Record<string, unknown>
}

import type { TargetRun } from '../target-run.ts'
import { type HttpOptions, readHttpOptions } from './http-options.ts'

export interface HttpHandler {
  (run: TargetRun): Promise<unknown>
  /** What call-backs about its runs are signed with. */
  readonly callbackSecrets: readonly string[] | undefined
}

/** A handler that has an endpoint do the work. */
export function httpHandler(_job: string, options: HttpOptions): HttpHandler {
  const target = readHttpOptions(options, process.env)
  const { callback, secrets } = target
  const handle = async (run: TargetRun): Promise<unknown> => {
    // Loaded by the first run: `node:http` costs an application that only declares jobs too much.
    const { callEndpoint } = await import('./call-endpoint.ts')
    return callEndpoint(target, run)
  }
  return Object.assign(handle, { callbackSecrets: callback === null ? undefined : (secrets ?? undefined) })
}

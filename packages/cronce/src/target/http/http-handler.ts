import { loadedTarget, type TargetHandler } from '../loaded-target.ts'
import { type HttpOptions, readHttpOptions } from './http-options.ts'

/** A handler that has an endpoint do the work. */
export function httpHandler(_job: string, options: HttpOptions): TargetHandler {
  const target = readHttpOptions(options, process.env)
  const { callback, secrets } = target
  const handler = loadedTarget(async () => {
    const { callEndpoint } = await import('./call-endpoint.ts')
    return (run) => callEndpoint(target, run)
  })
  return Object.assign(handler, { callbackSecrets: callback === null ? undefined : (secrets ?? undefined) })
}

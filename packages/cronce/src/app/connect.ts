import { type Client, createClient } from '../client/client.ts'
import { systemClock } from '../clock.ts'
import { type HandleCallbackOptions, handleCallback } from './handle-callback.ts'
import { type HandleFireOptions, handleFire } from './handle-fire.ts'
import { newId } from './identity.ts'
import { lazyStore } from './lazy-store.ts'
import { stderrLogger } from './logger.ts'
import { storeSource } from './open-store.ts'
import { type CronceOptions, resolveOptions } from './options.ts'
import { surroundingsOf } from './surroundings.ts'

/** A client of a store that runs nothing itself; close it when done. */
export interface Connection<Tx = unknown> extends Client<Tx> {
  /** Like `handleFire` of an app; instances of other processes run what is delivered. */
  handleFire(request: Request, options?: HandleFireOptions): Promise<Response>
  handleCallback(request: Request, options: HandleCallbackOptions): Promise<Response>
  /** From then on every call is refused: STORE_CLOSED. */
  close(): Promise<void>
}

/** Options of `connect()`. */
export interface ConnectOptions<Tx = unknown>
  extends Pick<CronceOptions<Tx>, 'store' | 'namespace' | 'keepActivity' | 'adopt' | 'logger' | 'calendars'> {
  /** Receives, instead of the logger, warnings about the store that endanger fires. */
  readonly onWarning?: ((code: string, message: string) => void) | undefined
}

/** The client alone, for programs that run no jobs: scripts, servers, the command line. */
export async function connect<Tx = unknown>(options: ConnectOptions<Tx>): Promise<Connection<Tx>> {
  const { NODE_ENV } = process.env
  const { tz = '' } = process.versions
  const { onWarning, ...others } = options ?? {}
  const { namespace, keepActivityMs, adopt, logger, calendars } = resolveOptions({ logger: stderrLogger, ...others })
  const source = storeSource(others.store)
  const { clock = systemClock(), zoneData = tz } = surroundingsOf(source)
  const lazy = lazyStore<Tx>(
    () =>
      source.open({
        namespace,
        adopt,
        production: NODE_ENV === 'production',
        warn: onWarning ?? ((code, message) => logger.warn(`${message} (${code})`)),
      }),
    { message: 'This connection was closed.', hint: 'Make another one by connect(), or close it later.' },
  )
  await lazy.open()
  const client = createClient<Tx>({
    store: lazy.store,
    context: () => ({ zoneData, clock, random: Math.random, newId }),
    keepActivityMs,
    calendars,
    emit: () => {},
  })
  const elsewhere = { client, isStarted: () => true, runDue: () => Promise.resolve(), clock, logger }
  return {
    ...client,
    handleFire: (request, fireOptions) => handleFire(elsewhere, request, fireOptions),
    handleCallback: (request, callbackOptions) =>
      handleCallback(client, request, callbackOptions, { namespace, logger }),
    close: lazy.close,
  }
}

import type { Cronce as App } from 'cronce'

/** The result of a health indicator, as `@nestjs/terminus` expects it. */
export type CronceHealth<Key extends string = string> = Readonly<
  Record<Key, { readonly status: 'up' | 'down' } & Readonly<Record<string, unknown>>>
>

const TIMEOUT_MS = 2_000

/** For readiness, not for liveness: while the store is away, a restart does not help. */
export class CronceHealthIndicator {
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  /**
   * `up` if the store answers in time, and this instance is live and not told to drain. Never rejects.
   *
   * @example
   * health.check([() => this.cronce.isHealthy('cronce')])
   */
  async isHealthy<const Key extends string = 'cronce'>(
    key = 'cronce' as Key,
    { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<CronceHealth<Key>> {
    const waited = Promise.withResolvers<object>()
    const timer = setTimeout(
      () => waited.resolve(down(`The store has not answered within ${timeoutMs} ms.`)),
      timeoutMs,
    )
    const looked = this.#look().catch((error: unknown) => down(error instanceof Error ? error.message : String(error)))
    const found = await Promise.race([looked, waited.promise])
    clearTimeout(timer)
    return { [key]: found } as CronceHealth<Key>
  }

  async #look(): Promise<object> {
    const { instance, instances } = this.#app
    if (instance === null) return down('The app has not started, or was stopped.')
    const own = await instances.find(instance)
    if (own === null || own.state !== 'live') return down(`This instance is ${own?.state ?? 'not on record'}.`)
    return own.drain ? down('This instance was told to drain.') : { status: 'up', instance }
  }
}

function down(message: string): object {
  return { status: 'down', message }
}

import type { OnApplicationBootstrap, OnModuleDestroy, OnModuleInit } from '@nestjs/common'
import type { DiscoveryService, ModuleRef } from '@nestjs/core'
import type { Cronce as App, Logger, StartOptions } from 'cronce'
import { declareJobs, type TimeoutJob } from './cronce-jobs.ts'

/** What the lifecycle of an application needs. */
export interface LifecycleParts {
  readonly app: App
  readonly discovery: DiscoveryService
  readonly moduleRef: ModuleRef
  readonly logger: Logger
  readonly startOptions: StartOptions
}

/** Between two attempts to trigger a job of `@Timeout`, while the store does not answer. */
const AGAIN_MS = 5_000

/** Declares, starts and stops the app with the application. */
export class CronceLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #parts: LifecycleParts
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #closers: (() => void)[] = []
  #timeoutJobs: readonly TimeoutJob[] = []
  #isStopping = false

  constructor(parts: LifecycleParts) {
    this.#parts = parts
  }

  /** Called when the application stops, before its runs are waited for. */
  onStop(close: () => void): void {
    this.#closers.push(close)
  }

  onModuleInit(): void {
    this.#timeoutJobs = declareJobs(this.#parts.app, this.#parts)
  }

  async onApplicationBootstrap(): Promise<void> {
    const { app, startOptions } = this.#parts
    await app.start(startOptions)
    for (const job of this.#timeoutJobs) this.#triggerAfter(job.afterMs, job.name)
  }

  /** The first of Nest's hooks at a stop: what runs use must be open until the runs have ended. */
  async onModuleDestroy(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    for (const close of this.#closers) close()
    await this.#parts.app.stop()
  }

  #triggerAfter(ms: number, name: string): void {
    if (this.#isStopping) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void this.#trigger(name)
    }, ms)
    this.#timers.add(timer)
  }

  async #trigger(name: string): Promise<void> {
    const { app, logger } = this.#parts
    try {
      const own = app.instance === null ? null : await app.instances.find(app.instance)
      // The deployment is the key: the first process of a deployment makes the fire.
      if (own !== null) await app.schedules.trigger(name, { dedupe: own.deployment })
    } catch (error) {
      if (this.#isStopping) return
      logger.warn(`Job ${JSON.stringify(name)} could not be triggered, and is triggered again in 5 s: ${String(error)}`)
      this.#triggerAfter(AGAIN_MS, name)
    }
  }
}

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Cronce,
  cronce,
  type FireView,
  type JobOptions,
  type Json,
  type RunView,
  type Target,
} from '../../src/index.ts'

export const TASK = new URL('./task.ts', import.meta.url)

/** A job with this target, its one fire, and all runs of it, when that has ended. */
export interface Ended {
  readonly app: Cronce
  readonly fire: FireView
  readonly runs: readonly RunView[]
  /** Of the last run. */
  readonly run: RunView
}

/** An app that stops with the test, on a store in memory. */
export function openApp(context: TestContext): Cronce {
  const app = cronce({ store: 'memory:', app: 'targets', signals: false, drain: 0, logger: false })
  context.after(() => app.stop())
  return app
}

/** Declare it as `work`, start, trigger it, wait for its end. */
export async function runToEnd(app: Cronce, options: JobOptions & Target, input: Json = null): Promise<Ended> {
  app.job('work', { ...options, input })
  await app.start()
  const { fire } = await app.schedules.trigger('work')
  return endOf(app, fire)
}

export async function endOf(app: Cronce, { schedule, dueAt, nonce }: FireView): Promise<Ended> {
  const key = { schedule, dueAt, nonce }
  const fire = await eventually(async () => {
    const found = await app.fires.get(key)
    return found.state === 'open' ? null : found
  })
  const { items } = await app.runs.list({ fire: key })
  const runs = items.toSorted((a, b) => a.attempt - b.attempt)
  return { app, fire, runs, run: runs.at(-1) as RunView }
}

/** What this finds, once it finds it. */
export async function eventually<Found>(find: () => Promise<Found | null> | Found | null): Promise<Found> {
  for (let look = 0; look < 1_200; look++) {
    const found = await find()
    if (found !== null) return found
    await sleep(50)
  }
  throw new Error('It has not happened within a minute.')
}

/** What a run's log has of this level. */
export function linesOf(run: RunView, level: 'debug' | 'info' | 'warn' | 'error'): string[] {
  return run.log.filter((line) => line.level === level).map(({ message }) => message)
}

/** Whether a process is there and has not ended. */
export function isAlive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(stateOf(pid))
}

/** One letter, as `ps` shows it; empty: it has ended. */
export function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.charAt(stat.lastIndexOf(')') + 2)
  } catch {
    return ''
  }
}

export async function folderFor(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-targets-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, type Cronce, connect, cronce } from 'cronce'
import { run } from '../src/run.ts'
import { type Asked, ask, listener, type Result } from './cronce.ts'

/** A new folder. The caller removes it. */
export function scratch(): string {
  return mkdtempSync(join(tmpdir(), 'cronce-steer-'))
}

/** Jobs of every temper, on the store that is named. Not started. */
export function fleetOn(store: string): Cronce {
  const app = cronce({ store, app: 'shop', deployment: 'v1', signals: false, logger: false, drain: '1s' })
  app.job('good', { timeout: '1m' }, (run) => {
    run.log(`begins with ${JSON.stringify(run.fire.input)}`)
    run.log.warn('careful \u001b[31mred')
    return { rows: 3 }
  })
  app.job('bad', { timeout: '1m' }, () => {
    throw new Error('no such file')
  })
  app.job('flaky', {}, (run) => {
    if (run.attempt === 1) throw new Error('not yet')
  })
  app.job(
    'slow',
    { timeout: '1h' },
    (run) => new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason))),
  )
  // More than is kept of a log.
  app.job('chatty', {}, (run) => {
    for (let line = 1; line <= 40; line++) run.log(`${line} ${'x'.repeat(3_000)}`)
  })
  app.job('halfway', { timeout: '1m' }, async (run) => {
    run.progress(0.4, 'of the way')
    await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
  })
  return app
}

export interface Bench {
  readonly store: string
  readonly client: Connection
  readonly say: (...args: string[]) => Promise<Result>
  readonly sayWith: (asked: Asked, ...args: string[]) => Promise<Result>
  /** What the command prints can be read while it runs. */
  readonly sayAloud: (asked: Asked, ...args: string[]) => { stderr: () => string; ended: Promise<number> }
}

/** The command line in this process, at this moment, on this store. */
export async function benchOn(store: string): Promise<Bench> {
  const client = await connect({ store, logger: false })
  const env = { CRONCE_STORE: store, CRONCE_AUTHOR: 'ada@desk' }
  const sayWith = (asked: Asked, ...args: string[]): Promise<Result> => ask(args, env, { now: Date.now(), ...asked })
  const sayAloud: Bench['sayAloud'] = (asked, ...args) => {
    const { io, said } = listener({ env, now: Date.now(), ...asked })
    return { stderr: () => said().stderr, ended: run(args, io) }
  }
  return { store, client, say: (...args) => sayWith({}, ...args), sayWith, sayAloud }
}

/** Look until it is so. */
export async function until<T>(look: () => Promise<T | null | false>): Promise<T> {
  for (let tries = 0; tries < 2_400; tries++) {
    const found = await look()
    if (found !== null && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('It did not come about within two minutes.')
}

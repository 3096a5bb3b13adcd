import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDashboard, type DashboardOptions } from '@cronce/dashboard'
import { type Served, serve } from '@cronce/server'
import { type Cronce, cronce } from 'cronce'

export interface Fleet {
  readonly url: string
  /** The same fleet with other options: another user, another path. */
  serve(options: DashboardOptions): Promise<string>
  readonly apps: readonly [Cronce, Cronce]
}

type Declare = (app: Cronce) => void

/** Two real instances on one SQLite file, and the dashboard of the first; gone when the test is over. */
export async function startFleet(
  context: { after(work: () => Promise<void>): void },
  declare: Declare,
  options: DashboardOptions = {},
): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-dashboard-'))
  const make = (): Cronce => {
    const app = cronce({
      ...{ store: `sqlite:${join(folder, 'cronce.db')}`, app: 'shop', deployment: 'v1' },
      ...{ signals: false, logger: false, drain: '1s' },
    })
    declare(app)
    return app
  }
  const apps = [make(), make()] as const
  const access = (): { level: 'operate'; author: string } => ({ level: 'operate', author: 'ada' })
  const open: Served[] = []
  const serveWith = async (more: DashboardOptions): Promise<string> => {
    const served = await serve(createDashboard(apps[0], { access, logger: false, ...more }), { port: 0 })
    open.push(served)
    return served.url
  }
  context.after(async () => {
    await Promise.all(open.map((served) => served.close()))
    await Promise.all(apps.map((app) => app.stop()))
    rmSync(folder, { recursive: true, force: true })
  })
  const url = await serveWith(options)
  for (const app of apps) await app.start()
  return { url, apps, serve: serveWith }
}

/** Looks until it is so, for two minutes at most. */
export async function eventually<Value>(look: () => Promise<Value | null | false>): Promise<Value> {
  for (let tries = 0; tries < 1_200; tries++) {
    const found = await look()
    if (found !== null && found !== false) return found
    await sleep(100)
  }
  throw new Error('It did not come to that.')
}

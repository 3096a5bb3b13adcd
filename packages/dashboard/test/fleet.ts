import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDashboard, type DashboardOptions } from '@cronce/dashboard'
import { serve } from '@cronce/server'
import { type Cronce, cronce } from 'cronce'

export interface Fleet {
  readonly url: string
  readonly apps: readonly [Cronce, Cronce]
}

type Declare = (app: Cronce) => void

/** Two real instances on one SQLite file, and the dashboard of the first; gone when the test is over. */
export async function startFleet(
  context: Pick<TestContext, 'after'>,
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
  const served = await serve(createDashboard(apps[0], { access, logger: false, ...options }), { port: 0 })
  context.after(async () => {
    await served.close()
    await Promise.all(apps.map((app) => app.stop()))
    rmSync(folder, { recursive: true, force: true })
  })
  for (const app of apps) await app.start()
  return { url: served.url, apps }
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

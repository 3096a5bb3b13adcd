import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { generatePrisma, prismaSchemaOf } from '../../../../scripts/docs/prisma.ts'
import { blocksOf } from '../../../../scripts/docs/read-docs.ts'
import { type Server, startPostgres } from '../../../../scripts/servers/index.ts'
import { connect } from '../../src/app/connect.ts'
import { migrator } from '../../src/store/postgres/migrator.ts'
import { collect, until } from '../processes/fleet.ts'
import { createDatabase, openPool } from '../processes/postgres-fleet.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const SOURCE = join(ROOT, 'packages/cronce/src')
const DOC = readFileSync(join(ROOT, 'docs/postgres.md'), 'utf8')
const URL_IN_DOC = 'postgres://app@db/shop'

/** Programs under a heading of its own library. What they look like otherwise is the business of scripts/check-docs.ts. */
const recipes = [...DOC.matchAll(/^### (.+)\n([\s\S]*?)(?=^##)/gm)].flatMap(([, library = '', text = '']) =>
  blocksOf(library, text).map(({ code, name }) => ({ library, code, name })),
)

let server: Server
let folder: string
before(async () => {
  // Nothing crashes here.
  server = await startPostgres({ settings: { fsync: 'off' } })
  folder = await mkdtemp(join(tmpdir(), 'cronce-recipes-'))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "name": "shop", "type": "module" }')
  await generatePrisma(prismaSchemaOf(DOC), folder)
})
after(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('a recipe of docs/postgres.md', { concurrency: 2, timeout: 600_000 }, () => {
  test('is there for every library', () => {
    const libraries = new Set(recipes.map(({ library }) => library))
    assert.deepEqual([...libraries], ['pg', 'postgres.js', 'Drizzle', 'Prisma', 'Kysely', 'Knex'])
  })

  for (const [index, { library, code, name }] of recipes.entries()) {
    test(`for ${library} (${name}) commits its row together with its fire`, async (context) => {
      const url = await prepareDatabase()
      const sql = openPool(url)
      const client = await connect({ store: url, logger: false })
      context.after(async () => {
        await client.close()
        await sql.end()
      })
      // The row is refused once: the fire fails, and none of its writes stay.
      await sql.query('alter table statements add constraint closed check (cents < 0)')
      await startRecipe(context, index, code, url)
      await until('the job is declared', async () => (await client.schedules.list()).items.length > 0)

      await client.schedules.trigger('statements')
      const [failed] = await until('the first fire has ended', async () => endedFires(client, 1))
      await sql.query('alter table statements drop constraint closed')
      await client.schedules.trigger('statements')
      const fires = await until('the second fire has ended', async () => endedFires(client, 2))

      assert.equal(failed?.state, 'failed')
      assert.deepEqual(fires.map(({ state }) => state).sort(), ['failed', 'succeeded'])
      const { rows } = await sql.query('select customer, cents from statements')
      assert.deepEqual(rows, [{ customer: 'ada', cents: 1700 }])
    })
  }
})

async function prepareDatabase(): Promise<string> {
  const url = await createDatabase(server.url)
  const store = migrator(url)
  await store.up()
  await store.close()
  const sql = openPool(url)
  await sql.query('create table statements (id serial primary key, customer text not null, cents integer not null)')
  await sql.end()
  return url
}

/** As it is written, but for where the database is and for what the package is called in a checkout. */
async function startRecipe(context: TestContext, index: number, code: string, url: string): Promise<void> {
  const file = join(folder, `recipe-${index}.ts`)
  const here = code
    .replaceAll(URL_IN_DOC, url)
    .replaceAll("'cronce'", `'${SOURCE}/index.ts'`)
    .replaceAll("'cronce/postgres'", `'${SOURCE}/postgres.ts'`)
  await writeFile(file, here)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const closed = once(child, 'close')
  context.after(async () => {
    child.kill('SIGKILL')
    await closed
    if ('passed' in context && context.passed === false) context.diagnostic(errors)
  })
}

async function endedFires(client: Awaited<ReturnType<typeof connect>>, count: number) {
  const fires = await collect(client.fires.all({ schedule: 'statements' }))
  const ended = fires.filter(({ state }) => state !== 'open')
  return ended.length >= count && ended
}

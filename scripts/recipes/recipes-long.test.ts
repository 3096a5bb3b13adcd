import { join } from 'node:path'
import { describe, test } from 'node:test'
import { migrator } from 'cronce/postgres'
import { startPostgres } from '../servers/index.ts'
import { proveRecipe } from './replicas.ts'

const ROOT = join(import.meta.dirname, '../..')
const of = (name: string): readonly string[] => [process.execPath, join(ROOT, `examples/frameworks/${name}.ts`)]

describe('every fire has run once, although one replica is killed and one is stopped in a run', {
  concurrency: 2,
}, () => {
  for (const name of ['fastify', 'hono', 'koa']) {
    test(`the recipe for ${name}`, async (context) => {
      await proveRecipe(context, { command: of(name) })
    })
  }

  test('the recipe for Express, on PostgreSQL', async (context) => {
    const server = await startPostgres()
    context.after(() => server.stop())
    const tables = migrator(server.url)
    await tables.up()
    await tables.close()
    await proveRecipe(context, { command: of('express'), store: server.url })
  })
})

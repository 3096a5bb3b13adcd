import { after, test } from 'node:test'
import { migrator } from 'cronce/postgres'
import { proveRecipe } from '../../../scripts/recipes/replicas.ts'
import { startPostgres } from '../../../scripts/servers/index.ts'
import { BY_SIGTERM, compileExample, onFastify, scratchFolder, writeProgram } from './kit.ts'

const scratch = scratchFolder()
after(() => scratch.remove())

test('the recipe for Nest, on PostgreSQL', async (context) => {
  const server = await startPostgres()
  context.after(() => server.stop())
  const tables = migrator(server.url)
  await tables.up()
  await tables.close()
  const program = writeProgram(scratch.path, 'express.js', compileExample())
  await proveRecipe(context, { command: [process.execPath, program], end: BY_SIGTERM, store: server.url })
})

test('the recipe for Nest, on Fastify', async (context) => {
  const program = writeProgram(scratch.path, 'fastify.js', onFastify(compileExample()))
  await proveRecipe(context, { command: [process.execPath, program], end: BY_SIGTERM })
})

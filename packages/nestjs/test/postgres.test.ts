import { after, before, test } from 'node:test'
import { migrator } from 'cronce/postgres'
import { type Server, startPostgres } from '../../../scripts/servers/index.ts'
import { compileFixture, scratchFolder, writeProgram } from './kit.ts'
import { judgeFleet } from './one-fleet.ts'

const scratch = scratchFolder()
let server: Server
before(async () => {
  server = await startPostgres()
  const store = migrator(server.url)
  await store.up()
  await store.close()
})
after(async () => {
  await server.stop()
  scratch.remove()
})

test('processes of a Nest application on PostgreSQL run each fire once, although one is killed in the middle', async (context) => {
  const program = writeProgram(scratch.path, 'fleet.js', compileFixture('fleet'))
  await judgeFleet(context, program, server.url)
})

import { join } from 'node:path'
import { test } from 'node:test'
import { proveRecipe } from './replicas.ts'

const ROOT = join(import.meta.dirname, '../..')

test('the recipe for Express: one replica is killed in a run, one is stopped in a run, and every fire has run once', async (context) => {
  const command = [process.execPath, join(ROOT, 'examples/frameworks/express.ts')]
  await proveRecipe(context, { command })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveFunction, SECRET, scratchFor } from './functions.ts'

const MINUTE_MS = 60_000
/** From here to the end of the minute there is time for all deliveries: the due time that is nearest is the same for each. */
const EARLY_MS = 5_000

test('Vercel cron: deliveries that name no time, one killed in the run, are one fire', async (context) => {
  const scratch = scratchFor(context)
  const url = 'https://shop.example.com/api/fires?schedule=report'
  const refused = await scratch.call('vercel.ts', { url }).answer()
  assert.equal(refused.status, 401)
  await new Promise((resolve) => setTimeout(resolve, MINUTE_MS - (Date.now() % MINUTE_MS) + EARLY_MS / 5))
  await proveFunction(scratch, 'vercel.ts', { url, headers: { authorization: `Bearer ${SECRET}` } })
})

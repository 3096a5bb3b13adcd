import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryHeaders } from '../../src/signature/delivery.ts'
import { type Completion, sign, signCallback, verifyCallback } from '../../src/signature.ts'

const SECRET = 'whsec_do-not-use-this-one'
const RUN = { namespace: 'shop', schedule: 'nächtlich/1', token: '17592186044417' }
const OPTIONS = { secret: SECRET }

async function refusedWith(code: string, what: Promise<unknown>): Promise<void> {
  await assert.rejects(what, { name: 'CronceError', code })
}

test('what an endpoint signs about its run is what arrives', async () => {
  const completions: readonly Completion[] = [
    { outcome: 'succeeded', result: { rows: 3 } },
    { outcome: 'succeeded' },
    { outcome: 'failed', error: 'out of paper' },
    { outcome: 'failed', error: 'no such customer', retryable: false },
  ]
  for (const completion of completions) {
    const request = new Request('https://example.com', await signCallback(RUN, completion, OPTIONS))
    const { outcome, result = null, error, retryable } = completion
    assert.deepEqual(await verifyCallback(request, RUN, OPTIONS), { outcome, result, error, retryable })
  }
})

test('a completion holds for the run that it was signed for, and no other', async () => {
  const signed = await signCallback(RUN, { outcome: 'succeeded' }, OPTIONS)
  await refusedWith('SIGNATURE_INVALID', verifyCallback(signed, { ...RUN, token: '17592186044418' }, OPTIONS))
  await refusedWith('SIGNATURE_INVALID', verifyCallback(signed, { ...RUN, schedule: 'other' }, OPTIONS))
  await refusedWith('SIGNATURE_INVALID', verifyCallback(signed, { ...RUN, namespace: 'other' }, OPTIONS))
  assert.equal((await verifyCallback(signed, { ...RUN, namespace: undefined }, OPTIONS)).outcome, 'succeeded')
  const moved = { ...signed, headers: { ...signed.headers, 'cronce-token': '17592186044418' } }
  await refusedWith('SIGNATURE_INVALID', verifyCallback(moved, { ...RUN, token: '17592186044418' }, OPTIONS))
})

test('a delivery replayed to the completion endpoint is not a completion, with any body', async () => {
  const body = JSON.stringify({ outcome: 'succeeded' })
  const delivery = { ...RUN, fireId: 'f', job: 'j', dueAt: 0, attempt: 1, idempotencyKey: 'k', callback: null }
  const headers = await sign({ headers: deliveryHeaders(delivery), body }, OPTIONS)
  await refusedWith('SIGNATURE_INVALID', verifyCallback({ headers, body }, RUN, OPTIONS))
})

test('a body without the outcome of a run is refused, even if it is signed', async () => {
  const bodies = [
    '',
    'null',
    '[]',
    '"succeeded"',
    '{}',
    '{"outcome":"done"}',
    '{"outcome":"failed","error":3}',
    '{"outcome":"failed","retryable":"no"}',
    '{"outcome":"succeeded","error":"x"}',
    '{"outcome":"succeeded","resutl":1}',
  ]
  const { headers: made } = await signCallback(RUN, { outcome: 'succeeded' }, OPTIONS)
  for (const body of bodies) {
    const headers = await sign({ headers: made, body }, OPTIONS)
    await refusedWith('COMPLETION_INVALID', verifyCallback({ headers, body }, RUN, OPTIONS))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toJson } from '../../src/engine/run/to-json.ts'
import { LIMITS } from '../../src/model/limits.ts'
import type { HttpResult } from '../../src/target/http/call-endpoint.ts'
import { httpHandler } from '../../src/target/http/http-handler.ts'
import { endpoint, targetRun } from './http-run.ts'

test('what an endpoint has done is done, however deep its answer is nested: too deep, it is kept as a text', async (context) => {
  let depth = 0
  const body = (): string => '['.repeat(depth) + ']'.repeat(depth)
  const { origin } = await endpoint(context, (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body()),
  )
  const handle = httpHandler('report', { url: origin, allowPrivate: ['127.0.0.1/32'] })
  // The result is one level itself.
  const deepest = LIMITS.depth - 1
  for (depth of [1, deepest, deepest + 1, 1_000, 4_390, 4_470, 6_000, 8_000, 100_000]) {
    const result = (await handle(targetRun())) as HttpResult
    assert.equal(result.status, 200)
    if (depth <= deepest) assert.deepEqual(result.body, JSON.parse(body()))
    else assert.ok(typeof result.body === 'string' && body().startsWith(result.body.slice(0, 1_000)), `${depth}`)
    // It is kept as it is.
    assert.deepEqual(toJson(result, LIMITS.result), { kind: 'json', json: result })
  }
})

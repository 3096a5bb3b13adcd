import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRedis } from '../../../../scripts/servers/index.ts'
import { applyAll, collect } from '../../src/testing/conformance/bench.ts'
import { creation, schedule } from '../../src/testing/conformance/samples.ts'
import { openAt } from './redis-races-kit.ts'
import { afterwards } from './sqlite-kit.ts'

test('a prefix finds every schedule whose name begins with it, with any next character', async (context) => {
  const server = await startRedis({ appendonly: false })
  afterwards(context, () => server.stop())
  const { store } = await openAt(context, server.url)
  const last = '\u{10ffff}'
  const ids = [
    'a',
    'a\n',
    'a!',
    'ab',
    `a${last}`,
    `a${last}b`,
    'b',
    '\ud7ff',
    '\ud7ffx',
    '\ue000',
    last,
    `${last}${last}`,
  ]
  await applyAll(
    store,
    ids.map((id) => creation(schedule(id))),
  )
  for (const prefix of ['', 'a', 'ab', `a${last}`, '\ud7ff', last, `${last}${last}`]) {
    const found = await collect((page) => store.listSchedules({ prefix, ...page }), 2)
    assert.deepEqual(found.map(({ id }) => id).sort(), ids.filter((id) => id.startsWith(prefix)).sort(), prefix)
  }
})

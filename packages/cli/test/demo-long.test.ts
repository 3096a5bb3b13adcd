import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { running } from './fixtures/service/running.ts'

const ADDRESS = /Watch it in a browser: (\S+)\/#token=([0-9a-f]{48})/
const foldersOf = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('cronce-demo-'))

/** A slow disk makes history slowly. */
async function patiently<Found>(look: () => Promise<Found>): Promise<Found> {
  for (let minutes = 1; minutes < 5; minutes++) {
    const found = await look().catch(() => null)
    if (found !== null) return found
  }
  return look()
}

test('cronce demo serves 90 days of sound history, ends well after its faults, goes on until Ctrl-C, and leaves nothing', async (context) => {
  const before = foldersOf()
  const demo = running(['demo', '--seconds', '5', '--listen', '127.0.0.1:0'])
  context.after(() => demo.end('SIGKILL'))
  const [, url, token] = await patiently(() => demo.until(ADDRESS))
  const get = async (
    path: string,
  ): Promise<{ readonly items: readonly { readonly count: number; readonly outcome: string }[] }> => {
    const response = await fetch(`${url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(response.status, 200, path)
    return (await response.json()) as never
  }
  await patiently(() => demo.until(/Sound: every instant is on record once/))
  await demo.until(/The fleet goes on/)
  assert.match(demo.said(), /duplicates\s+0\n\s+lost\s+0/)
  const to = Math.ceil(Date.now() / 3_600_000) * 3_600_000
  const { items } = await get(`counts?from=${to - 90 * 86_400_000}&to=${to - 80 * 86_400_000}`)
  assert.ok(items.some(({ outcome, count }) => outcome === 'succeeded' && count > 0))
  assert.ok((await get('activity')).items.length > 3)
  assert.equal(await demo.end('SIGINT'), 130)
  assert.deepEqual(
    foldersOf().filter((name) => !before.includes(name)),
    [],
  )
})

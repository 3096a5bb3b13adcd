import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Client, connect, type FireView } from '../../src/index.ts'
import { eventually, folderFor, isAlive, linesOf } from './kit.ts'

const PROGRAM = fileURLToPath(new URL('./scheduler.ts', import.meta.url))

async function startScheduler(context: TestContext, store: string, folder: string): Promise<ChildProcess> {
  // In a group of its own, as a terminal would start it.
  const child = spawn(process.execPath, [PROGRAM, store, folder], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  context.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

async function open(context: TestContext): Promise<{ client: Client; store: string; folder: string }> {
  const folder = await folderFor(context)
  const store = `sqlite:${join(folder, 'cronce.db')}?ephemeral`
  const client = await connect({ store })
  context.after(() => client.close())
  return { client, store, folder }
}

const ended = (client: Client, fire: FireView): Promise<FireView> =>
  eventually(async () => {
    const found = await client.fires.get(fire)
    return found.state === 'open' ? null : found
  })

describe('the death of a scheduler', { concurrency: 2, timeout: 600_000 }, () => {
  test('ends its commands and tasks with all they have started, before they are run again', async (context) => {
    const { client, store, folder } = await open(context)
    const first = await startScheduler(context, store, folder)
    const { fire } = await client.schedules.trigger('deaf')
    const { fire: loop } = await client.schedules.trigger('loop')
    const ticks = async (): Promise<{ token: string; pid: number }[]> => {
      const text = await readFile(join(folder, 'ticks'), 'utf8').catch(() => '')
      const lines = text.trim().split('\n').filter(Boolean)
      return lines.map((line) => line.split(' ')).map(([token = '', pid]) => ({ token, pid: Number(pid) }))
    }
    const pids = await eventually(async () => {
      const found = [...new Set((await ticks()).map(({ pid }) => pid))]
      return found.length === 2 ? found : null
    })
    const looping = await eventually(async () => {
      const { items } = await client.runs.list({ schedule: 'loop' })
      const said = items[0] === undefined ? undefined : linesOf(items[0], 'info')[0]
      return said === undefined ? null : Number(said.replace('pid ', ''))
    })
    assert.deepEqual([...pids, looping].map(isAlive), [true, true, true])

    const second = await startScheduler(context, store, folder)
    first.kill('SIGKILL')
    assert.equal((await ended(client, fire)).state, 'succeeded')
    assert.deepEqual(pids.filter(isAlive), [])
    const tokens = (await ticks()).map(({ token }) => token)
    const [before, after] = [...new Set(tokens)]
    assert.ok(before !== undefined && after !== undefined, `ticks of ${[...new Set(tokens)]}`)
    // All of the first run, then all of the second: never one beside the other.
    assert.equal(tokens.lastIndexOf(before) + 1, tokens.indexOf(after))

    assert.equal((await ended(client, loop)).state, 'abandoned')
    await eventually(() => (isAlive(looping) ? null : true))
    second.kill('SIGTERM')
    await once(second, 'exit')
  })

  test('is not asked of its commands: what is typed at its terminal is for the scheduler, which lets them finish', async (context) => {
    const { client, store, folder } = await open(context)
    const scheduler = await startScheduler(context, store, folder)
    const { fire } = await client.schedules.trigger('slow')
    await eventually(async () => {
      const { items } = await client.runs.list({ schedule: 'slow' })
      return items[0] !== undefined && linesOf(items[0], 'info').includes('ready') ? true : null
    })
    process.kill(-(scheduler.pid as number), 'SIGINT')
    assert.deepEqual(await once(scheduler, 'exit'), [null, 'SIGINT'])
    const { items } = await client.runs.list({ fire })
    assert.deepEqual(
      items.map((run) => [run.state, linesOf(run, 'info')]),
      [['succeeded', ['ready', 'done']]],
    )
  })
})

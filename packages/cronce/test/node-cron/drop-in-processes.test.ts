import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/app/connect.ts'
import { until } from './drop-in-kit.ts'

const WORKER = fileURLToPath(new URL('./drop-in-worker.ts', import.meta.url))
const ENTRY = new URL('../../src/node-cron.ts', import.meta.url).href
/** Else each process would compile all of the library anew. */
const COMPILED = join(import.meta.dirname, '../../../../node_modules/.cache/cronce-processes')
const LIMIT = { timeout: 600_000 }

interface Line {
  readonly name: string
  readonly slot: number
  readonly attempt: number
  readonly what: string
}

interface Fleet {
  /** `holdsMs`: how long each run takes. */
  start(name: string, holdsMs?: number, signals?: boolean): ChildProcess
  /** What processes printed. */
  output(): string
  readonly store: string
  lines(): Line[]
}

async function makeFleet(context: TestContext): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-drop-in-'))
  const witness = join(folder, 'witness')
  const children: ChildProcess[] = []
  const store = `sqlite:${join(folder, 'store.db')}`
  let output = ''
  context.after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(
      children.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null)),
    )
    await rm(folder, { recursive: true, force: true })
  })
  return {
    store,
    output: () => output,
    start(name, holdsMs, signals) {
      const given = { DROP_IN_HOLDS_MS: String(holdsMs ?? ''), DROP_IN_SIGNALS: String(signals ?? '') }
      const more = { DROP_IN_WITNESS: witness, DROP_IN_NAME: name, CRONCE_STORE: store, ...given }
      const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...more }
      const child = spawn(process.execPath, [WORKER], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
      children.push(child)
      return child
    },
    lines() {
      if (!existsSync(witness)) return []
      const whole = readFileSync(witness, 'utf8').split('\n').slice(0, -1)
      return whole.map((line) => {
        const [name = '', slot, attempt, what = ''] = line.split(' ')
        return { name, slot: Number(slot), attempt: Number(attempt), what }
      })
    },
  }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

describe('Processes with the drop-in, on one file that CRONCE_STORE names', { concurrency: true }, () => {
  it('run each slot once, run again what one of them died at, and go on where they were', LIMIT, async (context) => {
    const fleet = await makeFleet(context)
    const begun = (name: string): Line[] => fleet.lines().filter((line) => line.name === name && line.what === 'begun')
    const dying = fleet.start('dying', 600_000)
    await until(() => begun('dying').length > 0, 'it began one')
    await kill(dying)
    const lost = begun('dying').map(({ slot }) => slot)
    const pair = ['one', 'other'].map((name) => fleet.start(name))
    const ended = (): number[] => fleet.lines().flatMap(({ slot, what }) => (what === 'ended' ? [slot] : []))
    await until(() => lost.every((slot) => ended().includes(slot)) && ended().length >= lost.length + 4, 'they went on')
    await Promise.all(pair.map(kill))
    const lines = fleet.lines()
    // A process that was killed between the two lines of a slot has begun a slot that has no end.
    const first = lines.filter(({ what, attempt }) => what === 'begun' && attempt === 1).map(({ slot }) => slot)
    assert.equal(new Set(first).size, first.length, 'no slot was begun twice but by a further try')
    const again = lines.filter(({ attempt, what }) => attempt > 1 && what === 'begun').map(({ slot }) => slot)
    assert.deepEqual(again.toSorted(), lost.toSorted(), 'what was lost, and nothing else, was tried again')
    const slots = [...new Set(first)].sort((a, b) => a - b)
    assert.ok(
      slots.every((slot, index) => index === 0 || slot - slots[index - 1]! === 1_000),
      `none is left out: ${slots}`,
    )
  })

  it('let runs finish on a stop signal, and end as they would have without the drop-in', LIMIT, async (context) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const fleet = await makeFleet(context)
      const leaving = fleet.start('leaving', 1_500)
      await until(() => fleet.lines().length > 0, 'it began one')
      const [begun] = fleet.lines()
      const ended = once(leaving, 'exit')
      leaving.kill(signal)
      assert.deepEqual(await ended, [null, signal])
      assert.equal(fleet.lines().filter(({ slot, what }) => slot === begun?.slot && what === 'ended').length, 1)
      assert.match(
        fleet.output(),
        new RegExp(`Stopping: \\d runs? may finish within 30 s \\(ledger\\)\\. Send ${signal} again`),
      )
      const client = await connect({ store: fleet.store })
      const { items } = await client.runs.list({ schedule: 'ledger' })
      const [instance] = await client.instances.list()
      await client.close()
      assert.deepEqual([...new Set(items.map(({ state, attempt }) => `${state} ${attempt}`))], ['succeeded 1'])
      assert.equal(instance?.state, 'left')
    }
  })

  it('end at once with signals: false', LIMIT, async (context) => {
    const fleet = await makeFleet(context)
    const leaving = fleet.start('leaving', 600_000, false)
    await until(() => fleet.lines().length > 0, 'it began one')
    const ended = once(leaving, 'exit')
    leaving.kill('SIGTERM')
    assert.deepEqual(await ended, [null, 'SIGTERM'])
    assert.equal(fleet.output(), '')
  })

  for (const [unref, ends] of [
    [true, 'ends although'],
    [false, 'goes on because'],
  ] as const) {
    it(`a process ${ends} it has a task with unref: ${unref}`, LIMIT, async (context) => {
      const program = `import cron from '${ENTRY}'; cron.schedule('* * * * * *', () => {}, { unref: ${unref} }); setTimeout(() => console.log('here'), 1500)`
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
        env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      context.after(() => void child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      await once(child.stdout, 'data')
      if (unref) assert.deepEqual(await ended, [0, null])
      else {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        assert.deepEqual([child.exitCode, child.signalCode], [null, null])
      }
    })
  }
})

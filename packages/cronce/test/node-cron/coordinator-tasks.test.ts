import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import cron, { type TaskContext, type TaskFn, type TaskOptions } from 'node-cron'
import { type Cronce, cronce } from '../../src/app/cronce.ts'
import type { Logger } from '../../src/app/logger.ts'
import type { FireView } from '../../src/client/views.ts'
import { type Coordinator, type CoordinatorOptions, runCoordinator } from '../../src/node-cron.ts'
import { memory } from '../../src/store/memory/memory.ts'
import { until } from '../processes/fleet.ts'

const SILENT = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }
let lines: string[] = []
/** A logger whose lines are in `lines`. */
function recording(): Logger {
  lines = []
  const kept = lines
  const keep = (level: string) => (message: string) => void kept.push(`${level}: ${message}`)
  return { warn: keep('warn'), error: keep('error') }
}
const DYING = fileURLToPath(new URL('./coordinator-dying.ts', import.meta.url))

interface Tasks {
  readonly app: Cronce
  readonly coordinator: Coordinator
  /** A task of the real node-cron, every second. */
  schedule(name: string, target: TaskFn | string, options?: TaskOptions): ReturnType<typeof cron.createTask>
  /** What is on record about a task and has this outcome, once there is something. */
  record(name: string, state: FireView['state']): Promise<FireView>
}

async function startTasks(context: TestContext, options?: CoordinatorOptions): Promise<Tasks> {
  const app = cronce({ store: memory(), logger: false, signals: false }) as Cronce
  context.after(async () => {
    await cron.shutdown()
    await app.stop()
  })
  await app.start()
  const coordinator = runCoordinator(app, options)
  return {
    app,
    coordinator,
    schedule: (name, target, more) =>
      cron.schedule('* * * * * *', target, {
        ...{ name, distributed: true, runCoordinator: coordinator, logger: SILENT },
        ...more,
      }),
    record: (name, state) =>
      until(`${name} ${state}`, async () => {
        const { items } = await app.fires.list({ schedule: `node-cron:${name}` })
        return items.find((fire) => fire.state === state)
      }),
  }
}

test('a function knows its slot after every await, and no other function does', async (context) => {
  const { coordinator, schedule, record, app } = await startTasks(context)
  const seen: { readonly task: string; readonly context: TaskContext; readonly tokens: (bigint | undefined)[] }[] = []
  const look = (task: string) => async (context: TaskContext) => {
    const tokens = [coordinator.current()?.token]
    await sleep(20)
    tokens.push(coordinator.current()?.token)
    await Promise.all([sleep(10), new Promise((resolve) => setImmediate(resolve))])
    tokens.push(coordinator.current()?.token, coordinator.token(context) ?? undefined)
    seen.push({ task, context, tokens })
  }
  const [first] = [schedule('one', look('one')), schedule('two', look('two'))]
  await record('one', 'succeeded')
  await record('two', 'succeeded')
  // Executed by hand, without asking the coordinator, so there is no slot.
  await first.execute()
  const byHand = seen.filter(({ context }) => context.execution?.reason === 'invoked')
  assert.deepEqual(
    byHand.map(({ tokens }) => tokens),
    [[undefined, undefined, undefined, undefined]],
  )
  const bySlot = seen.filter(({ context }) => context.execution?.reason === 'scheduled')
  assert.ok(bySlot.length >= 2)
  for (const { task, context, tokens } of bySlot) {
    const [token] = tokens
    assert.ok(token !== undefined && tokens.every((other) => other === token))
    const run = await app.runs.get(`node-cron:${task}`, token)
    assert.equal(run.dueAt, context.date.getTime())
  }
  assert.equal(coordinator.current(), null)
})

test('a run that throws is on record as failed if its task is watched, else as completed', async (context) => {
  const { app, coordinator, schedule, record } = await startTasks(context)
  const fail = (): never => {
    throw new Error('no space left')
  }
  coordinator.watch(schedule('watched', fail))
  schedule('unwatched', fail)
  const failed = await record('watched', 'failed')
  const { items } = await app.runs.list({ fire: { schedule: failed.schedule, dueAt: failed.dueAt } })
  assert.equal(items[0]?.error?.message, 'no space left')
  await record('unwatched', 'succeeded')
})

test('with { cron } every distributed task is watched, and its schedule shows when node-cron will ask', async (context) => {
  const { app, schedule, record } = await startTasks(context, { cron })
  const fail = (): never => {
    throw new Error('no space left')
  }
  schedule('inline', fail, { timezone: 'Europe/Berlin' })
  schedule('background', DYING)
  await record('inline', 'failed')
  await record('background', 'failed')
  const { input } = await app.schedules.get('node-cron:inline')
  assert.deepEqual(input, {
    'cronce:expected': {
      ...{ kind: 'cron', expression: '* * * * * *', tz: 'Europe/Berlin', days: 'and', dst: 'once', wrap: true },
    },
  })
})

test('a coordinator with its own store logs that it has started, and what its stop waits for', async (context) => {
  const told: string[] = []
  const logger = { ...SILENT, info: (message: string) => void told.push(message) }
  const coordinator = runCoordinator(memory(), { logger, signals: false })
  context.after(() => cron.shutdown())
  await coordinator.ready()
  assert.match(told[0] ?? '', /^Started: coordinator of node-cron\. Store memory.*, instance \S+\.$/)
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = (): Promise<void> => {
    begun.resolve()
    return gate.promise
  }
  const options = { name: 'invoices', distributed: true, runCoordinator: coordinator, noOverlap: true, logger: SILENT }
  cron.schedule('* * * * * *', work, options)
  await begun.promise
  const closing = coordinator.close()
  assert.equal(told[1], 'Stopping: 1 run may finish within 30 s (node-cron:invoices).')
  gate.resolve()
  await closing
})

test('a background task whose process dies is on record as failed if it is watched', async (context) => {
  const { coordinator, schedule, record } = await startTasks(context, { overlap: 'fleet' })
  coordinator.watch(schedule('dying', DYING))
  const { reason } = await record('dying', 'failed')
  assert.equal(reason, 'error')
})

test('what runs when the app stops may end, and is on record; what comes then is skipped', async (context) => {
  const { app, schedule } = await startTasks(context)
  const outcomes: string[] = []
  app.on('run.ended', ({ outcome }) => void outcomes.push(outcome))
  const begun = Promise.withResolvers<void>()
  const task = schedule('slow', async () => {
    begun.resolve()
    await sleep(300)
  })
  const skipped = Promise.withResolvers<string | undefined>()
  task.on('execution:skipped', ({ reason }) => skipped.resolve(reason))
  await begun.promise
  await app.stop()
  assert.deepEqual(new Set(outcomes), new Set(['succeeded']))
  assert.equal(await skipped.promise, 'not-elected')
})

test('a coordinator with its own store is not a deployment of an app of the user, even of the same name', async (context) => {
  const store = memory()
  const app = cronce({ store, app: 'node-cron', logger: false, signals: false }).job('yearly', '0 0 1 1 *', () => {})
  await app.start()
  const coordinator = runCoordinator(store, { logger: false, signals: false })
  context.after(async () => {
    await coordinator.close()
    await app.stop()
  })
  await coordinator.ready()
  const apps = (await app.instances.list()).map((instance) => instance.app)
  assert.deepEqual(apps.toSorted(), ['cronce/node-cron/coordinator', 'node-cron'])
})

test('when the first slot is asked for, tasks that are not distributed are named, once', async (context) => {
  const app = cronce({ store: memory(), logger: recording(), signals: false }) as Cronce
  context.after(async () => {
    await cron.shutdown()
    await app.stop()
  })
  await app.start()
  const coordinator = runCoordinator(app, { cron })
  const task = (options: TaskOptions, pattern = '0 0 1 1 *') =>
    cron.schedule(pattern, () => {}, { logger: SILENT, ...options })
  task({ name: 'cleanup' })
  task({}, '5 0 1 1 *')
  cron.createTask('0 0 1 1 *', DYING, { name: 'in-a-process', logger: SILENT })
  cron.createTask('0 0 1 1 *', DYING, { name: 'on-purpose', distributed: false, logger: SILENT })
  task({ name: 'also-once', distributed: true, runCoordinator: coordinator })
  task({ name: 'once', distributed: true, runCoordinator: coordinator }, '* * * * * *')
  await until('two slots', async () => coordinator.counts.run >= 2)
  assert.deepEqual(lines, [
    'warn: 3 tasks of node-cron run in every process, without asking the coordinator: cleanup (0 0 1 1 *), a task without a name (5 0 1 1 *), in-a-process (0 0 1 1 *). Add { name, distributed: true } to the options of those that should run once; ignore this for those that say distributed: false.',
  ])
  assert.throws(() => runCoordinator(app, { cron: {} as never }), { code: 'OPTION_INVALID' })
})

test('without a distributed task no slot is asked for, and the tasks are named all the same', async (context) => {
  const app = cronce({ store: memory(), logger: recording(), signals: false }) as Cronce
  context.after(async () => {
    await cron.shutdown()
    await app.stop()
  })
  await app.start()
  const kept = lines
  const coordinator = runCoordinator(app, { cron })
  cron.schedule('0 0 1 1 *', () => {}, { name: 'forgotten', logger: SILENT })
  for (const _ of ['de', 'fr']) cron.schedule('5 0 1 1 *', () => {}, { logger: SILENT })
  await until('the warning', async () => kept.length > 0)
  assert.match(
    kept.join('\n'),
    /^warn: 3 tasks .*: forgotten \(0 0 1 1 \*\), 2 tasks without a name \(5 0 1 1 \*\)\. Add/,
  )
  assert.equal(coordinator.counts.run + coordinator.counts.taken, 0)
})

test('a task is listed with its next slot before its first slot, and has no record', async (context) => {
  const { app, schedule } = await startTasks(context, { cron })
  schedule('asked', () => {})
  const yearly = { distributed: true, logger: SILENT, runCoordinator: runCoordinator(app, { cron }) }
  cron.schedule('0 0 1 1 *', () => {}, { ...yearly, name: 'yearly', timezone: 'Europe/Berlin' })
  cron.createTask('0 0 1 1 *', () => {}, { ...yearly, name: 'not-started' })
  const found = await until('the schedule', () => app.schedules.find('node-cron:yearly'))
  const input = found.input as { 'cronce:expected': { expression: string; tz: string } }
  assert.equal(input['cronce:expected'].tz, 'Europe/Berlin')
  assert.equal(found.trigger, null)
  assert.deepEqual((await app.fires.list({ schedule: 'node-cron:yearly' })).items, [])
  assert.equal(await app.schedules.find('node-cron:not-started'), null)
})

test('a coordinator that cannot start is an error, with what to do', async (context) => {
  const coordinator = runCoordinator('sqlite:/no/such/folder/cronce.db', { logger: recording(), signals: false })
  context.after(() => coordinator.close())
  await assert.rejects(coordinator.ready())
  assert.match(
    lines[0] ?? '',
    /^error: The coordinator could not be started, so no distributed task runs here: .*\/no\/such\/folder.*\. [A-Z].*\.$/,
  )
})

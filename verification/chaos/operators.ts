import type { Request, Spec } from '../../packages/checker/src/history.ts'
import type { FireView } from '../../packages/cronce/src/client/views.ts'
import type { Chaos } from './chaos.ts'
import { optionsOf, releaseJobs } from './jobs.ts'
import type { Random } from './random.ts'

type Command = (chaos: Chaos, random: Random) => Promise<unknown>

/** What people do, at the worst of times. All of it through the public client. */
const COMMANDS: readonly Command[] = [pause, resume, trigger, trigger, backfill, cancel, retry, skipNext, make, remove]
const CHOICES = ['skip', 'latest', 'all'] as const
const PAUSABLE = ['operated', 'on-the-second'] as const
const MADE = ['made-1', 'made-2'] as const

/** Two people at a time. */
export async function operate(chaos: Chaos, random: Random): Promise<void> {
  const commands = random.shuffle(COMMANDS).slice(0, 2)
  // Each takes what it needs from a source of its own, however much that is.
  const asked = commands.map((command) => command(chaos, random.fork()))
  for (const { reason } of (await Promise.allSettled(asked)).filter(
    ({ status }) => status === 'rejected',
  ) as PromiseRejectedResult[]) {
    chaos.recorder.log(`operator: ${reason}`)
  }
}

/** Resumes everything. Returns whether the store confirms it. */
export async function resumeAll({ client, recorder }: Chaos): Promise<boolean> {
  let isDone = true
  for (const schedule of PAUSABLE) {
    const request: Request = { verb: 'resume', missed: 'latest' }
    const result = await recorder.operate(schedule, request, () =>
      client.schedules.resume(schedule, { missed: request.missed }),
    )
    isDone &&= result === 'ok'
  }
  return isDone
}

async function pause({ client, recorder, store }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(PAUSABLE)
  const missed = random.pick(CHOICES)
  const until = random.chance(0.4) ? Math.round((await store.now()) + random.between(500, 2_500)) : null
  const options = until === null ? { missed } : { missed, until }
  await recorder.operate(schedule, { verb: 'pause', until, missed }, () => client.schedules.pause(schedule, options))
}

async function resume({ client, recorder }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(PAUSABLE)
  const missed = random.pick(CHOICES)
  await recorder.operate(schedule, { verb: 'resume', missed }, () => client.schedules.resume(schedule, { missed }))
}

async function trigger({ client, recorder }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(['by-hand', 'by-hand', 'operated', 'pay', 'one-by-one'])
  // Few keys, so that some are asked for twice.
  const nonce = random.chance(0.5)
    ? `key-${Math.floor(random.next() * 6)}`
    : `id-${Math.floor(random.next() * 2 ** 32)}`
  await recorder.operate(schedule, { verb: 'trigger', nonce }, () =>
    client.schedules.trigger(schedule, { dedupe: nonce }),
  )
}

async function backfill({ client, recorder, store }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(['never-late', 'on-the-second', 'one-by-one'])
  const now = await store.now()
  const from = Math.round(now - random.between(2_000, 8_000))
  const to = Math.round(now - random.between(0, 2_000))
  await recorder.operate(schedule, { verb: 'backfill', from, to, force: false }, () =>
    client.schedules.backfill(schedule, { from, to }),
  )
}

async function cancel({ client, recorder }: Chaos, random: Random): Promise<void> {
  const { items } = await client.schedules.list({ internal: true, limit: 100 })
  const open = items.flatMap(({ name, open }) => open.map((fire) => ({ schedule: name, ...fire })))
  if (open.length === 0) return
  const { schedule, dueAt, nonce, token } = random.pick(open)
  const isRun = token !== null && random.chance(0.5)
  await recorder.operate(schedule, { verb: 'cancel', dueAt, nonce, token: isRun ? token : null }, () =>
    isRun ? client.runs.cancel(schedule, token) : client.fires.cancel({ schedule, dueAt, nonce }),
  )
}

async function retry({ client, recorder }: Chaos, random: Random): Promise<void> {
  const outcome = random.pick(['failed', 'abandoned', 'cancelled', 'missed', 'succeeded'] as const)
  const { items } = await client.fires.list({ outcome, limit: 20 })
  const fires = items.filter(({ range }: FireView) => range === null)
  if (fires.length === 0) return
  const { schedule, dueAt, nonce } = random.pick(fires)
  const force = random.chance(0.5)
  await recorder.operate(schedule, { verb: 'retry', dueAt, nonce, force }, () =>
    client.fires.retry({ schedule, dueAt, nonce }, { force }),
  )
}

async function skipNext({ client, recorder }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(['on-the-second', 'operated', 'slow'])
  const dueAt = (await client.schedules.get(schedule)).nextAt
  if (dueAt === null) return
  await recorder.operate(schedule, { verb: 'skip-next', dueAt }, () => client.schedules.skipNext(schedule, { dueAt }))
}

/** Another schedule for a job that there is, or another rule for one that was made before. */
async function make({ client, recorder }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(MADE)
  const job = releaseJobs(0).find(({ name }) => name === 'beat')!
  const trigger = { kind: 'every', everyMs: random.pick([300, 500, 700]), anchor: 0 } as const
  const spec: Spec = { ...job.spec, trigger, overlap: { kind: random.pick(['skip', 'queue']), limit: 1 } }
  await recorder.operate(schedule, { verb: 'define', spec }, () =>
    client.schedules.put(schedule, { job: 'beat', ...optionsOf({ ...job, spec }) }),
  )
}

async function remove({ client, recorder }: Chaos, random: Random): Promise<void> {
  const schedule = random.pick(MADE)
  await recorder.operate(schedule, { verb: 'remove' }, () => client.schedules.remove(schedule, { force: true }))
}

/** Every name that a schedule may have had. */
export const NAMES: readonly string[] = [
  ...new Set([...releaseJobs(0), ...releaseJobs(1)].map(({ name }) => name)),
  ...MADE,
]

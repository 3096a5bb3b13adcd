import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caseScale } from '../case-count.ts'
import { seededRandom } from '../virtual/world.ts'
import { checkPromises } from './check-promises.ts'
import { createFleet, type Declare, type Fleet, type Handled, type Member } from './fleet.ts'

const { CRONCE_ROLLBACK_FIRST: first = '1' } = process.env
const SEEDS = Math.ceil(10 * caseScale(0.3))
const FIRST = Number(first)
const LATENCY = { requestMs: 20, answerMs: 20 }

/** One fire handled again without having been given up: a second run with the same attempt, or one too many. */
interface Twice {
  readonly first: Handled
  readonly second: Handled
}

function declareWith(random: () => number): Declare {
  return (app, { clock }) => {
    const work = async (run: { readonly signal: AbortSignal }): Promise<void> => {
      await clock.sleep(Math.ceil(random() * 6_000), run.signal)
      run.signal.throwIfAborted()
      if (random() < 0.2) throw new Error('bad luck')
    }
    const often = '*/2 * * * * *'
    app.job('once', { cron: often, guarantee: 'at-most-once', overlap: { kind: 'allow', limit: 20 } }, work)
    const retry = { attempts: 3, backoff: { base: '2s', factor: 1, jitter: 0 } } as const
    app.job('again', { cron: often, retry, overlap: { kind: 'allow', limit: 20 } }, work)
    app.job('queue', { cron: '*/5 * * * * *', overlap: 'queue', retry }, work)
    app.job('skip', { cron: '*/3 * * * * *', overlap: 'skip' }, work)
  }
}

async function storm(seed: number, isHarsh: boolean): Promise<Fleet> {
  const random = seededRandom(seed)
  const fleet = await createFleet({ seed, losesWrites: true, latency: (luck) => slow(luck) })
  const declare = declareWith(random)
  const settings = { leaseMs: 6_000, storeDeadlineMs: 2_000 }
  await fleet.addMany(3, declare, { settings })
  await fleet.advance('5s')
  for (let time = 0; time < 6; time++) {
    const goBack = fleet.keep()
    await fleet.advance(Math.ceil(random() * 4_000))
    if (isHarsh) await trouble(fleet, random, declare, settings)
    await fleet.advance(Math.ceil(random() * 1_000))
    goBack()
    await fleet.advance(Math.ceil(random() * 15_000))
  }
  await fleet.advance('2m')
  return fleet
}

function slow(luck: () => number) {
  return { requestMs: luck() * LATENCY.requestMs, answerMs: luck() * LATENCY.answerMs }
}

async function trouble(fleet: Fleet, random: () => number, declare: Declare, settings: object): Promise<void> {
  const up = fleet.members.filter(({ state }) => state !== 'crashed')
  const victim = up[Math.floor(random() * up.length)]!
  const how = Math.floor(random() * 5)
  if (how === 0) {
    victim.crash()
    await fleet.add(declare, { settings })
  } else if (how === 1) {
    victim.pause()
    fleet.world.at(fleet.world.now() + random() * 12_000, () => victim.resume())
  } else if (how === 2) {
    const mend = victim.link.disturb(() => (random() < 0.5 ? { kind: 'answer-lost' } : null))
    fleet.world.at(fleet.world.now() + random() * 8_000, mend)
  } else if (how === 3) {
    victim.link.deaf = true
  } else {
    const mend = victim.link.disturb(() => ({ kind: 'throws' }))
    fleet.world.at(fleet.world.now() + random() * 12_000, mend)
  }
}

function twice({ handled }: Fleet): Twice[] {
  const seen = new Map<string, Handled>()
  const found: Twice[] = []
  for (const second of handled) {
    const { schedule, dueAt, nonce, attempt } = second
    const key = `${schedule} ${dueAt} ${nonce} ${schedule === 'once' ? '' : attempt}`
    const first = seen.get(key)
    if (first !== undefined) found.push({ first, second })
    seen.set(key, second)
  }
  return found
}

function isNamed(fleet: Fleet, { first: { schedule, dueAt, member } }: Twice): boolean {
  return fleet
    .events('store.rolledBack', member)
    .some(({ doubtful }) => doubtful.some((fire) => fire.schedule === schedule && fire.dueAt === dueAt))
}

function text({ first, second }: Twice): string {
  const { schedule, dueAt, attempt } = second
  return `${schedule} ${new Date(dueAt).toISOString()} attempt ${attempt}: ${first.member.name}, then ${second.member.name}`
}

function wasFenced(fleet: Fleet, member: Member, instance: string): boolean {
  return fleet.events('instance.fenced', member).some((event) => event.instance === instance)
}

for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
  test(`seed ${seed}: all live instances know what a failover loses, and nothing runs twice`, async () => {
    const fleet = await storm(seed, false)
    assert.deepEqual(twice(fleet).map(text), [])
    assert.deepEqual(
      fleet.events('store.rolledBack').flatMap(({ doubtful }) => doubtful),
      [],
    )
    assert.ok(fleet.events('store.rolledBack').some(({ restored }) => restored.length > 0))
    assert.deepEqual(fleet.events('instance.fenced'), [])
    fleet.end()
  })

  test(`seed ${seed}: with crashes, pauses and cuts, what runs twice was known to no live instance, or is named`, async () => {
    const fleet = await storm(seed, true)
    for (const one of twice(fleet)) {
      const { member, instance } = one.first
      const isOver = member.state === 'crashed' || wasFenced(fleet, member, instance)
      assert.ok(isOver || isNamed(fleet, one), text(one))
    }
    for (const member of fleet.members) member.crash()
    checkPromises({ source: fleet.source, handled: [] })
    const { schedules } = fleet.source.data.namespaces.get('default')!
    for (const { id, open } of schedules.values()) {
      for (const { dueAt } of open) assert.ok(fleet.now() - dueAt < 60_000, `${id} ${dueAt} is open`)
    }
  })
}

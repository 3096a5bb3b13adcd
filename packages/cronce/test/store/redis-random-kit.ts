import assert from 'node:assert/strict'
import { redisCommand, type Server } from '../../../../scripts/servers/index.ts'
import { memory, type NamespaceData } from '../../src/memory.ts'
import type { HistoryRecord } from '../../src/model/record.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { runKeyText } from '../../src/store/memory/data.ts'
import { slotOf } from '../../src/store/redis/clients/slot.ts'
import { writeLine } from '../../src/store/redis/history-line.ts'
import { decodeName, encodeName, fireName, memberOf, namespaceKey, packToken } from '../../src/store/redis/keys.ts'
import { redis } from '../../src/store/redis/redis.ts'
import type { BeatAnswer, Store } from '../../src/store/store.ts'
import { decideIn, HOUR_MS } from '../../src/testing/conformance/samples.ts'

export type Random = (below: number) => number

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Both stores, what is in them, and a time that is hours away from all that is judged by it. */
export interface Twins {
  readonly random: Random
  readonly stores: readonly [real: Store, model: Store]
  readonly data: NamespaceData
  readonly base: number
  /** The time of the last answer. */
  now(): number
  readonly seen: Set<string>
  one<Item>(items: readonly Item[]): Item
  /** Ask both the same. Answers what they agree on. */
  ask<Answer>(what: string, question: (store: Store) => Promise<Answer>): Promise<Answer>
}

/** Real time passes between two questions: moments are not compared. A change that is sent again renews again. */
const MOMENTS = new Set(['now', 'renewedAt', 'renewals', 'begunAt'])

function withoutMoments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMoments)
  if (typeof value !== 'object' || value === null) return value
  const isInstance = 'renewals' in value
  const own = 'begunAt' in value ? 'endedAt' : isInstance ? 'startedAt' : ''
  const kept = Object.entries(value).filter(([name]) => !MOMENTS.has(name) && name !== own)
  // Of an instance: whether it has ended.
  const compared = (name: string, item: unknown): unknown =>
    isInstance && name === 'endedAt' ? item !== null : withoutMoments(item)
  return Object.fromEntries(kept.map(([name, item]) => [name, compared(name, item)]))
}

export async function openTwins(server: Server, random: Random, namespace: string, seen: Set<string>): Promise<Twins> {
  const options = { namespace, adopt: false, production: false, warn: () => {} }
  const real = (await redis(server.url).open(options)) as Store
  let { now } = await real.load([])
  const epoch = real.info.epoch
  decideIn(epoch)
  const data = { epoch, namespaces: new Map(), effects: new Map() }
  const source = memory({ clock: { wall: () => now }, data })
  const model = (await source.open(options)) as Store
  const base = now - (now % HOUR_MS)
  return {
    random,
    stores: [real, model],
    data: source.data.namespaces.get(namespace)!,
    base,
    now: () => now,
    seen,
    one: (items) => items[random(items.length)]!,
    async ask(what, question) {
      const answer = await question(real)
      now = (await real.load([])).now
      assert.deepEqual(withoutMoments(answer), withoutMoments(await question(model)), what)
      return answer
    },
  }
}

/** Held runs come in any order. A store need not know that nothing is left of what was to be pruned: it finds out when it prunes. */
export function sortHeld(answer: BeatAnswer): unknown {
  const { chores, ...rest } = answer
  const { prunable: _, ...others } = chores
  return { ...rest, chores: others, held: byText(answer.held) }
}

/** Where the order among equals is the store's affair, or the properties of a record. */
export function byText<Item>(items: readonly Item[]): Item[] {
  const text = (item: Item) => JSON.stringify(NAMES.map((name) => (item as Record<string, unknown>)[name]))
  return items.toSorted((one, other) => (text(one) < text(other) ? -1 : 1))
}

const NAMES = ['id', 'schedule', 'dueAt', 'nonce', 'token', 'step']

interface Paged<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** All pages, in the order of `placeOf`. */
export async function all<Item>(
  list: (after: string | null) => Promise<Paged<Item>>,
  placeOf: (item: Item) => number,
): Promise<Item[]> {
  const items: Item[] = []
  for (let after: string | null = null, pages = 0; pages < 500; pages++) {
    const page: Paged<Item> = await list(after)
    items.push(...page.items)
    after = page.next
    if (after !== null) continue
    const places = items.map(placeOf)
    const sorted = places.toSorted((one, other) => one - other)
    assert.deepEqual(places, sorted)
    return byText(items)
  }
  return assert.fail('paging does not end')
}

/** What is there is what the records call for, and nothing else. */
export async function compareKeys(server: Server, namespace: string, { data }: Twins, when: string): Promise<void> {
  const actual = await actualKeys(server, namespace)
  const expected = expectedKeys(data, await regularLines(server, namespace, actual, when))
  for (const name of new Set([...actual.keys(), ...expected.keys()])) {
    // Notes of a run that vanished without a line stay until its schedule is erased.
    const isErased = !expected.has(`s:${memberOf(decodeName(name.slice(2)))[0]}`)
    if (name.startsWith('n:') && !isErased) {
      const found = actual.get(name)
      assert.ok(
        [...(expected.get(name) ?? [])].every((token) => found?.has(token)),
        `${name} (${when})`,
      )
      continue
    }
    assert.deepEqual([...(actual.get(name) ?? [])].sort(), [...(expected.get(name) ?? [])].sort(), `${name} (${when})`)
  }
  await compareExpiring(server, namespace, data, when)
}

type Put = (key: string, ...members: readonly (string | number)[]) => void

/** Regular lines are in no index: as `schedule number`. All of them are in the log, and counted. */
async function regularLines(
  server: Server,
  namespace: string,
  actual: Map<string, Set<string>>,
  when: string,
): Promise<Set<string>> {
  const key = namespaceKey('cronce', namespace)
  const regular = new Set<string>()
  for (const [name, lines] of actual) {
    if (!name.startsWith('h:')) continue
    for (const line of lines) {
      const [, number, flag] = /^(\d+) (\w)/.exec(line)!
      if (flag! < 'a') regular.add(`${name.slice(2)} ${number}`)
    }
    actual.set(name, new Set([...lines].map((line) => line.replace(/^\d+ \w/, (start) => start.toUpperCase()))))
  }
  const entries = (await redisCommand(server, 'XRANGE', `${key}:log`, '-', '+')) as [string, string[]][]
  const logged = new Set(
    entries.flatMap(([, refs]) => refs.flatMap((ref, at) => (at % 2 === 0 ? [`${ref.slice(2)} ${refs[at + 1]}`] : []))),
  )
  for (const line of regular) assert.ok(logged.has(line), `${line} is in the log (${when})`)
  const [counted, written] = (await redisCommand(server, 'HMGET', key, 'regular', 'logged')) as string[]
  assert.equal(Number(counted ?? 0), regular.size, when)
  assert.equal(
    Number(written ?? 0),
    entries.reduce((sum, [, refs]) => sum + refs.length / 2, 0),
    when,
  )
  return regular
}

/** Every key there is, and the names in it, as the records call for. */
function expectedKeys(data: NamespaceData, regular: ReadonlySet<string>): Map<string, Set<string>> {
  const keys = new Map<string, Set<string>>()
  const put: Put = (key, ...members) => {
    const known = keys.get(key) ?? new Set()
    keys.set(key, known.add(members.join(' ')))
  }
  for (const state of data.schedules.values()) expectSchedule(state, put)
  for (const line of data.history.values()) {
    expectLine(line, regular.has(`${encodeName(line.schedule)} ${line.number}`), put)
  }
  for (const [key, { schedule, token }] of runsOf(data)) {
    if (data.notes.has(key)) put(`n:${encodeName(schedule)}`, packToken(token))
  }
  for (const step of data.steps.values()) {
    put(`steps:${encodeName(step.schedule)}\n${fireName(step)}`, encodeName(step.step))
    put(`stepped:${encodeName(step.schedule)}`, fireName(step))
  }
  return keys
}

/** By `runKeyText`. */
function runsOf(data: NamespaceData): Map<string, { readonly schedule: string; readonly token: string }> {
  const open = [...data.schedules.values()].flatMap(({ id, open }) =>
    open.flatMap(({ run }) => (run === null ? [] : [{ schedule: id, token: run.token }])),
  )
  const ended = [...data.history.values()].flatMap(({ schedule, run }) =>
    run === null ? [] : [{ schedule, token: run.token }],
  )
  return new Map([...open, ...ended].map((run) => [runKeyText(run.schedule, run.token), run]))
}

function expectSchedule(state: ScheduleState, put: Put): void {
  const [id, member] = [encodeName(state.id), memberOf(state.id)]
  const { job, tenant } = state.definition
  put(`s:${member[0]}`, id)
  put('def', id)
  put('names', id, 0)
  put(`names:job:${encodeName(job)}`, id, 0)
  if (tenant !== null) put(`names:tenant:+${encodeName(tenant)}`, id, 0)
  if (state.source.kind === 'code') put(`names:app:+${encodeName(state.source.app)}`, id, 0)
  if (state.wakeAt !== null) put(`due:${encodeName(job)}`, member, state.wakeAt)
  for (const { dueAt, nonce, run } of state.open) {
    if (run === null) put('waiting', `${member}\n${encodeName(nonce)}\n${dueAt}`, dueAt)
    else {
      put(`held:${encodeName(run.instance)}`, member)
      put('holders', encodeName(run.instance))
      for (const slot of run.slots ?? []) put(`slot:${encodeName(slot)}`, `${member}\n${packToken(run.token)}`)
    }
  }
}

/** A removed schedule that has lines left keeps its numbers. */
function expectLine(line: HistoryRecord, isRegular: boolean, put: Put): void {
  const [id, member] = [encodeName(line.schedule), memberOf(line.schedule)]
  const { dueAt, number, range, isFinal } = line
  const own = `${encodeName(line.nonce)}\n${number}`
  put(`s:${member[0]}`, id)
  put(`h:${id}`, number, writeLine(line).line)
  if (writeLine(line).body !== '') put(`b:${id}`, number)
  if (line.nonce !== '') put(`nonce:${id}`, encodeName(line.nonce))
  if (isRegular) return
  put('f', `${member}\n${own}`, dueAt)
  put(`f:${id}`, own, dueAt)
  if (range !== null && isFinal) put('ranges', `${member}\n${own}`, dueAt)
  if (range !== null && isFinal) put(`ranges:${id}`, own, dueAt)
}

/** No schedule is listed later than the first of its final lines may go, or later than now: a prune that is unfinished lists it anew. */
async function compareExpiring(server: Server, namespace: string, data: NamespaceData, when: string): Promise<void> {
  const key = `${namespaceKey('cronce', namespace)}:expiring`
  const pairs = (await redisCommand(server, 'ZRANGE', key, '0', '-1', 'WITHSCORES')) as string[]
  const listed = new Map(pairs.flatMap((item, index) => (index % 2 === 0 ? [[item, Number(pairs[index + 1])]] : [])))
  for (const { schedule, isFinal, expiresAt } of data.history.values()) {
    const at = listed.get(memberOf(schedule)) ?? Number.POSITIVE_INFINITY
    if (isFinal)
      assert.ok(
        at <= Math.max(expiresAt, Date.now()),
        `${schedule} is listed at ${at}, not before ${expiresAt} (${when})`,
      )
  }
}

const OTHERS = /^(?:instance:|app:|live$|gone$|log$|expiring$|pruning$|counts:|days$|$)/

async function actualKeys(server: Server, namespace: string): Promise<Map<string, Set<string>>> {
  const keys = new Map<string, Set<string>>()
  const prefix = namespaceKey('cronce', namespace)
  for (const key of (await redisCommand(server, 'KEYS', '*')) as string[]) {
    const name = key.slice(prefix.length + 1)
    assert.ok(!key.startsWith(prefix) || slotOf(key) === slotOf(prefix), `one slot for all: ${key}`)
    if (!key.startsWith(prefix) || OTHERS.test(name)) continue
    const members = name.startsWith('h:') ? await linesOf(server, prefix, name) : await membersOf(server, key)
    if (members.size > 0) keys.set(name, members)
  }
  return keys
}

/** Lines of a history by their numbers: the line of their schedule says that of the first. */
async function linesOf(server: Server, prefix: string, name: string): Promise<Set<string>> {
  const id = name.slice(2)
  const shard = memberOf(decodeName(id))[0]
  const first = String(await redisCommand(server, 'HGET', `${prefix}:s:${shard}`, id)).split(' ')[2]
  const lines = (await redisCommand(server, 'LRANGE', `${prefix}:${name}`, '0', '-1')) as string[]
  return new Set(lines.flatMap((line, index) => (line === '' ? [] : [`${Number(first) + index} ${line}`])))
}

async function membersOf(server: Server, key: string): Promise<Set<string>> {
  const type = await redisCommand(server, 'TYPE', key)
  if (type === 'set') return new Set((await redisCommand(server, 'SMEMBERS', key)) as string[])
  if (type === 'hash') return new Set((await redisCommand(server, 'HKEYS', key)) as string[])
  const pairs = (await redisCommand(server, 'ZRANGE', key, '0', '-1', 'WITHSCORES')) as string[]
  return new Set(pairs.flatMap((item, index) => (index % 2 === 0 ? [`${item} ${pairs[index + 1]}`] : [])))
}

import assert from 'node:assert/strict'
import { redisCommand, type Server } from '../../../../scripts/servers/index.ts'
import type { NamespaceData } from '../../src/memory.ts'
import type { HistoryRecord } from '../../src/model/record.ts'
import type { ScheduleState } from '../../src/model/schedule.ts'
import { runKeyText } from '../../src/store/memory/data.ts'
import { slotOf } from '../../src/store/redis/clients/slot.ts'
import { writeLine } from '../../src/store/redis/history-line.ts'
import { decodeName, encodeName, fireName, memberOf, namespaceKey, packToken } from '../../src/store/redis/keys.ts'
import type { Twins } from './random-kit.ts'

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

/** Lines of a history by their numbers: the line of their schedule has that of the first. */
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

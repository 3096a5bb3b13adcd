import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { connect } from 'cronce'
import { until } from './kit.ts'
import { NestProcess } from './nest-process.ts'

const SECOND_MS = 1_000
const FIRES = 3

/**
 * A process on Express is killed in the middle of a run. One on Express and one on Fastify go on: each due time is on record once, and
 * each fire that succeeded was run to its end once.
 */
export async function judgeFleet(context: TestContext, program: string, store: string): Promise<void> {
  const start = (environment: Readonly<Record<string, string | undefined>>): NestProcess => {
    const process = new NestProcess(program, { STORE: store, ...environment })
    context.after(() => process.end('SIGKILL'))
    return process
  }
  const hanging = start({ PLATFORM: 'express', HANG: '1' })
  await until('the first process runs a fire', () => hanging.dueTimes('begun').length > 0)
  const others = [start({ PLATFORM: 'express' }), start({ PLATFORM: 'fastify' })]
  const client = await connect({ store, logger: false })
  context.after(() => client.close())
  const isLive = async (): Promise<boolean> => {
    const live = (await client.instances.list()).filter(({ state }) => state === 'live').map(({ pid }) => pid)
    return others.every(({ child }) => live.includes(child.pid!))
  }
  await until('both other processes are up', isLive)
  assert.equal(await hanging.end('SIGKILL'), 'SIGKILL')
  const [interrupted] = hanging.dueTimes('begun')
  const ended = (): readonly number[] => others.flatMap((each) => each.dueTimes('ended')).toSorted((a, b) => a - b)
  await until('its fire is run by a peer', () => ended().includes(interrupted!))
  const before = ended().length
  await until('the fleet goes on', () => ended().length >= before + FIRES)
  assert.deepEqual(await Promise.all(others.map((each) => each.end('SIGTERM'))), ['SIGTERM', 'SIGTERM'])

  const output = others.map((each) => each.output).join('\n')
  const known: number[] = []
  const succeeded: number[] = []
  for await (const { dueAt, range, state } of client.fires.all({ schedule: 'billing' })) {
    known.push(...Array.from({ length: range?.count ?? 1 }, (_, index) => dueAt + index * SECOND_MS))
    if (state === 'succeeded') succeeded.push(dueAt)
  }
  const first = Math.min(...known)
  const seconds = Array.from({ length: known.length }, (_, index) => first + index * SECOND_MS)
  const ascending = (one: number, other: number): number => one - other
  assert.deepEqual(known.toSorted(ascending), seconds, `every due time is on record once\n${output}`)
  assert.deepEqual(ended(), succeeded.toSorted(ascending), `each fire ran to its end once\n${output}`)
}

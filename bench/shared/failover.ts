import { setTimeout as sleep } from 'node:timers/promises'
import { ACQUAINT_MS, type Fleet } from './fleet.ts'

/** From kill -9 of a process that runs something until the next attempt starts in another, each time in a fresh fleet. */
export interface Failovers {
  readonly eachMs: readonly number[]
  readonly faults: readonly string[]
}

const PATIENCE_MS = 40_000
const RUNNING_MS = 1_500

export async function measureFailovers(
  rounds: number,
  withFleet: (work: (fleet: Fleet) => Promise<number>) => Promise<number>,
): Promise<Failovers> {
  const eachMs: number[] = []
  const faults: string[] = []
  for (let round = 0; round < rounds; round++) {
    try {
      eachMs.push(await withFleet(failOver))
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { eachMs, faults }
}

async function failOver(fleet: Fleet): Promise<number> {
  await fleet.start()
  await sleep(ACQUAINT_MS)
  await fleet.create({ kind: 'stuck', count: 1 })
  const counts = await fleet.until('started', 1, PATIENCE_MS)
  const runner = counts.findIndex(({ started }) => started > 0)
  await sleep(RUNNING_MS)
  const killedAt = fleet.kill(runner)
  await fleet.until('started', 1, PATIENCE_MS)
  const [start] = (await fleet.collect()).flat()
  await fleet.stop()
  const [, dueAt, lateMs, attempt] = start!
  if (attempt !== 2) throw new Error(`After the crash came attempt ${attempt}, not 2.`)
  return dueAt + lateMs - killedAt
}

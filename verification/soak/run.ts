/**
 * `npm run soak`: three processes, 200 schedules and a fault every few seconds; every ten seconds what they hold.
 *
 *     npm run soak -- --store sqlite|postgres|redis|etcd [--minutes 60]
 *     [--schedules 200] [--every 5] [--seed N] [--json] [--out FILE] [--report docs/reports]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { randomFrom } from '../chaos/random.ts'
import type { PreparedStore } from '../chaos/stores/store.ts'
import { drawSeed } from '../draw-seed.ts'
import { faultsFor, type Struck } from './faults.ts'
import { type Place, startPlace } from './fleet.ts'
import { judgeProcess, judgeSize } from './judge.ts'
import type { Sample, SizeSample } from './order.ts'
import { publishSoak, type SoakResult, soakTable } from './report.ts'
import { SOAK_STORES } from './sizes.ts'

const MEASURED = ['w1', 'w2', 'w3']
/** Short, so that pauses and silent networks outlast it. */
const LEASE_MS = 2_000
const SAMPLE_MS = 10_000
const READY_MS = 120_000
/** Between the end of a fault and the next one. */
const PACE_MS = [500, 4_000] as const

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    minutes: { type: 'string', default: '60' },
    schedules: { type: 'string', default: '200' },
    /** Seconds. */
    every: { type: 'string', default: '5' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    report: { type: 'string' },
  },
})
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function main(): Promise<number> {
  const soak = SOAK_STORES[values.store]
  if (soak === undefined)
    throw new Error(`There is no store ${values.store}; there are ${Object.keys(SOAK_STORES).join(', ')}.`)
  const folder = mkdtempSync(join(tmpdir(), 'cronce-soak-'))
  const store = await soak.store.prepare(folder, { wall: Date.now, setsClock: false })
  const order = { schedules: Number(values.schedules), everyMs: Number(values.every) * 1_000, leaseMs: LEASE_MS }
  const places: Place[] = []
  try {
    for (const name of [...MEASURED, 'victim']) places.push(await startPlace({ name, folder, store, order }))
    await allReady(places)
    const result = await endure(places, store, () => soak.bytes(store))
    console.log(values.json ? JSON.stringify(result, null, 2) : soakTable(result))
    if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(result)}\n`)
    if (values.report !== undefined) publishSoak(result, values.report)
    return result.judged.some(({ verdict }) => verdict === 'grows') || result.exits > 0 ? 1 : 0
  } finally {
    await Promise.all(places.map((place) => place.end()))
    await store.close().catch(() => {})
    rmSync(folder, { recursive: true, force: true })
  }
}

async function allReady(places: readonly Place[]): Promise<void> {
  const end = performance.now() + READY_MS
  while (!places.every(({ isReady }) => isReady)) {
    if (performance.now() > end) throw new Error(`Not all processes were ready within ${READY_MS / 1_000} s.`)
    await sleep(100)
  }
}

async function endure(
  places: readonly Place[],
  store: PreparedStore,
  bytes: () => Promise<number>,
): Promise<SoakResult> {
  const seed = values.seed === undefined ? drawSeed() : Number(values.seed)
  const measured = places.filter(({ name }) => MEASURED.includes(name))
  const victim = places.find(({ name }) => !MEASURED.includes(name))!
  const samples = new Map<string, Sample[]>(MEASURED.map((name) => [name, []]))
  const sizes: SizeSample[] = []
  const ended = new AbortController()
  const begun = performance.now()
  const lengthMs = Number(values.minutes) * 60_000
  say(
    `Seed ${seed}: ${values.schedules} schedules every ${values.every} s on ${values.store}, for ${values.minutes} minutes.`,
  )
  const striking = strike({ measured, victim, store, leaseMs: LEASE_MS }, seed, ended.signal)
  while (performance.now() - begun < lengthMs) {
    const at = Math.round((performance.now() - begun) / 1_000)
    const taken = await Promise.all(measured.map((place) => place.sample(at)))
    for (const [index, sample] of taken.entries()) if (sample !== null) samples.get(MEASURED[index]!)!.push(sample)
    const fires = [...samples.values()].reduce((sum, own) => sum + (own.at(-1)?.fires ?? 0), 0)
    // A server that is down has no size.
    const size = await bytes().catch(() => null)
    const due = Math.floor(at / Number(values.every)) * Number(values.schedules)
    if (size !== null) sizes.push({ at, bytes: size, due })
    if (at % 60 < SAMPLE_MS / 1_000)
      say(`${at} s: ${fires} fires, ${size === null ? 'no' : Math.round(size / 1_000)} kB`)
    await sleep(Math.max(0, (at + SAMPLE_MS / 1_000) * 1_000 - (performance.now() - begun)))
  }
  ended.abort()
  const faults = await striking
  return {
    ...{ store: values.store, seed, minutes: Number(values.minutes), schedules: Number(values.schedules) },
    everySeconds: Number(values.every),
    faults,
    exits: measured.reduce((sum, { exits }) => sum + exits, 0),
    fires: [...samples.values()].reduce((sum, own) => sum + (own.at(-1)?.fires ?? 0), 0),
    samples: Object.fromEntries(samples),
    sizes,
    judged: [...[...samples].flatMap(([name, own]) => judgeProcess(name, own)), judgeSize(sizes)],
  }
}

/** One fault after the other, in an order that the seed decides. Returns how often each was dealt. */
async function strike(struck: Struck, seed: number, signal: AbortSignal): Promise<Readonly<Record<string, number>>> {
  const random = randomFrom(seed)
  const faults = Object.entries(faultsFor(struck.store))
  const counts: Record<string, number> = {}
  while (!signal.aborted) {
    const [name, deal] = random.pick(faults)
    try {
      await deal(struck, random)
      counts[name] = (counts[name] ?? 0) + 1
    } catch (error) {
      // A server may be busy with the fault before.
      say(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
    await sleep(random.between(...PACE_MS), undefined, { signal }).catch(() => {})
  }
  return counts
}

process.exitCode = await main()

/**
 * `npm run verify:peers`: cronce and other schedulers under the same faults at the same time, with a ledger of what was executed.
 *
 *     npm run verify:peers                          # 40 minutes of faults, one each minute; 47 minutes in all
 *     npm run verify:peers -- --minutes 10          # each fault once
 *     [--only bullmq,cronce-redis] [--schedules 20] [--work 5000] [--seed N] [--json] [--keep FOLDER] [--report docs/reports]
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgres, startRedis } from '../../scripts/servers/index.ts'
import { enterNamespace } from '../chaos/namespace.ts'
import { randomFrom } from '../chaos/random.ts'
import { drawSeed } from '../draw-seed.ts'
import { BLOWS, type Blow } from './blows.ts'
import { type PeerFleet, PROCESSES, startPeers } from './fleet.ts'
import { judgeLedger } from './ledger.ts'
import { DESCRIPTIONS, MINUTE_MS, SYSTEMS, type System, scheduleName } from './order.ts'
import { type PeersResult, publishPeers, resultTable } from './report.ts'

/** After the last fault, for what recovers slowly: pg-boss looks for silent workers once a minute, BullMQ for stalled jobs every 30 s. */
const CALM_MS = 150_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '40' },
    only: { type: 'string' },
    schedules: { type: 'string', default: '20' },
    work: { type: 'string', default: '5000' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    keep: { type: 'string' },
    report: { type: 'string' },
  },
})
const schedules = Number(values.schedules)
const minutes = Number(values.minutes)
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function main(): Promise<number> {
  const systems = SYSTEMS.filter((system) => values.only?.split(',').includes(system) ?? true)
  const entered = await enterNamespace(false)
  if (typeof entered === 'number') return entered
  const seed = values.seed === undefined ? drawSeed() : Number(values.seed)
  const folder = mkdtempSync(join(tmpdir(), 'cronce-peers-'))
  const origin = process.hrtime.bigint()
  const epoch = Date.now()
  const servers = { postgres: await startPostgres({}), redis: await startRedis() }
  say(`Seed ${seed}: ${PROCESSES} processes each of ${systems.join(', ')}.`)
  const fleets: PeerFleet[] = []
  try {
    for (const system of systems) {
      const order = { schedules, workMs: Number(values.work), origin: String(origin) }
      const fleet = await startPeers({ system, folder, servers, order })
      fleets.push(fleet)
      // One after the other: starting takes the whole machine.
      await fleet.ready()
    }
    // The first due time that all of them have seen coming.
    const first = Math.ceil((Date.now() + MINUTE_MS / 2) / MINUTE_MS) * MINUTE_MS
    const dealt = await dealBlows(fleets, servers, seed, first)
    await sleep(first + minutes * MINUTE_MS + CALM_MS - Date.now())
    const result = judge(fleets, { seed, first, epoch, dealt })
    console.log(values.json ? JSON.stringify(result, null, 2) : resultTable(result))
    if (values.report !== undefined) publishPeers(result, values.report)
    if (values.keep !== undefined) {
      cpSync(folder, values.keep, { recursive: true })
      writeFileSync(join(values.keep, 'result.json'), `${JSON.stringify(result, null, 2)}\n`)
    }
    // The peers' figures are news. A duplicate or a loss of ours is an error.
    return result.rows.some(({ system, tally }) => isOurs(system) && tally.duplicates + tally.lost + tally.early > 0)
      ? 1
      : 0
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.end()))
    await Promise.all([servers.postgres.stop(), servers.redis.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
}

function isOurs(system: System): boolean {
  return system.startsWith('cronce')
}

/** One blow around each due time, in an order that the seed decides; every kind before any kind again. */
async function dealBlows(
  fleets: readonly PeerFleet[],
  servers: Parameters<Blow['deal']>[0]['servers'],
  seed: number,
  first: number,
): Promise<readonly string[]> {
  const random = randomFrom(seed)
  const hasClocks = fleets.every(({ processes }) => processes.every(({ clock }) => clock !== null))
  const possible = BLOWS.filter(({ needsClock }) => hasClocks || needsClock !== true)
  if (!hasClocks) say('Clocks are not set: it takes a C compiler or libfaketime.')
  let deck: Blow[] = []
  const dealt: string[] = []
  for (let minute = 0; minute < minutes; minute++) {
    if (deck.length === 0) deck = random.shuffle(possible)
    const blow = deck.pop()!
    const place = Math.floor(random.next() * PROCESSES)
    const dueAt = first + minute * MINUTE_MS
    const all = fleets.flatMap(({ processes }) => processes)
    say(`${new Date(dueAt).toISOString().slice(11, 16)}  process ${place + 1}: ${blow.name}`)
    await blow.deal({
      all,
      struck: fleets.map(({ processes }) => processes[place]!),
      servers,
      until: (ms) => sleep(Math.max(0, dueAt + ms - Date.now())),
    })
    dealt.push(blow.name)
    // Blows that end early leave the rest of their minute alone.
    await sleep(Math.max(0, dueAt + MINUTE_MS - 12_000 - Date.now()))
  }
  return dealt
}

function judge(
  fleets: readonly PeerFleet[],
  { seed, first, epoch, dealt }: { seed: number; first: number; epoch: number; dealt: readonly string[] },
): PeersResult {
  const expected = {
    schedules: Array.from({ length: schedules }, (_, index) => scheduleName(index)),
    dueTimes: Array.from({ length: minutes }, (_, minute) => first + minute * MINUTE_MS),
    epoch,
  }
  return {
    ...{ seed, minutes, schedules, processes: PROCESSES },
    dealt: Object.fromEntries([...Map.groupBy(dealt, (name) => name)].map(([name, all]) => [name, all.length])),
    rows: fleets.map((fleet) => ({
      system: fleet.system,
      version: versionOf(DESCRIPTIONS[fleet.system].package),
      exits: fleet.exits(),
      tally: judgeLedger(fleet.lines(), expected),
    })),
  }
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '../../node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

process.exitCode = await main()

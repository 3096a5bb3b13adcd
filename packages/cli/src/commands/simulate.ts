import type { Args } from '../args.ts'
import { readDurationText } from '../duration-text.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { wholeNumber } from '../operands.ts'
import { printJson } from '../output.ts'
import { progressLine } from '../progress.ts'
import { detailLines } from '../service/jobs-error.ts'
import { SERVICE_FLAGS } from '../service/settings.ts'
import { durationsOf } from '../simulate/durations.ts'
import { printSimulation } from '../simulate/print-simulation.ts'
import { readCode, readStore, type Simulated } from '../simulate/read-simulated.ts'
import { simulate } from '../simulate/simulate.ts'
import { simulationJson } from '../simulate/simulation-json.ts'
import { TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const { store, namespace, config, app } = SERVICE_FLAGS
const OUTAGE = '2h'
const DURATION = '10s'
const DAYS = 365

export const simulateCommand: Command = {
  operands: '[FILE…]',
  examples: [
    ['cronce simulate jobs.ts', 'a year of what this file declares; opens no store'],
    ['cronce simulate jobs.ts --duration 1m --duration report=2h', 'if jobs take a minute, and report takes two hours'],
    ['cronce simulate', 'a year of the schedules on CRONCE_STORE, with the durations of their latest runs'],
    ['cronce simulate jobs.ts --outage 12h --json', 'another outage, for a program'],
  ],
  about: [
    'Lets time pass for the schedules in a virtual fleet of which nothing fails, by the functions by which an instance decides, then tries',
    'an outage at the times that look worst, and tells of the worst one. Nothing is started, and nothing is written to a store.',
    'Work always succeeds, unless its timeout ends it. Rules: https://github.com/cronce/cronce/blob/main/docs/plan.md',
  ].join('\n'),
  flags: {
    days: { type: 'string', value: 'N', help: `How long to simulate, 1 to 366 days (default ${DAYS})` },
    from: { type: 'string', value: 'TIME', help: 'With FILE: when to begin (default now)' },
    duration: {
      type: 'string',
      value: '[NAME=]TIME',
      repeat: true,
      help: `How long work takes that has no recorded runs (default ${DURATION}), or that of a job or schedule in any case`,
    },
    recorded: { type: 'boolean', help: 'With FILE: take durations from the latest runs on the store' },
    outage: {
      type: 'string',
      value: 'TIME',
      help: `How long the outage lasts, up to 7d; 0 for none (default ${OUTAGE})`,
    },
    concurrency: { type: 'string', value: 'N', help: 'Most runs at a time in the whole fleet (default unlimited)' },
    app,
    ...TIME_FLAGS,
    ...{ store, namespace, config },
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runSimulate,
}

const WEEK_MS = 7 * 86_400_000

async function runSimulate(args: Args, io: Io): Promise<number> {
  const days = wholeNumber(args, 'days', { min: 1, max: 366, otherwise: DAYS })
  const room = wholeNumber(args, 'concurrency', { min: 1, max: 1_000_000, otherwise: Number.POSITIVE_INFINITY })
  const tz = zoneOf(args)
  const outageMs = readDurationText(args.text('outage') ?? OUTAGE, 'outage')
  if (outageMs > WEEK_MS) throw new UsageError('--outage is longer than 7d.', 'Use a shorter outage.')
  const assumed = readAssumed(args)
  const read = await readSimulated(args, io, timeFlag(args, 'from', { tz, now: io.now }) ?? io.now)
  const jobOf = new Map(read.states.map(({ id, definition }) => [id, definition.job]))
  demandKnown(assumed.named, jobOf)
  const progress = progressLine(io)
  const made = simulate(read.states, {
    ...{ from: read.from, days, tz, room, outageMs, zoneData: process.versions['tz'] ?? '' },
    durations: durationsOf({ ...assumed, recorded: read.recorded, jobOf }),
    onDay: (day) => progress.show(`simulated ${day} of ${days} days`),
  })
  progress.clear()
  const report = { made, read, tz, room, otherwise: assumed.otherwise, named: assumed.named }
  if (args.has('json')) printJson(simulationJson(report), io)
  else printSimulation(report, io)
  return EXIT.ok
}

async function readSimulated(args: Args, io: Io, from: number): Promise<Simulated> {
  if (args.positionals.length === 0) return readStore(args, io)
  try {
    return await readCode(args, io, from)
  } catch (error) {
    if (!args.has('json')) io.err(detailLines(error))
    throw error
  }
}

interface Assumed {
  readonly named: ReadonlyMap<string, number>
  readonly otherwise: number
}

/** `--duration 1m` for all, `--duration NAME=1m` for one. */
function readAssumed(args: Args): Assumed {
  const named = new Map<string, number>()
  let otherwise = readDurationText(DURATION, 'duration')
  for (const text of args.texts('duration')) {
    const place = text.lastIndexOf('=')
    const ms = readDurationText(text.slice(place + 1), 'duration')
    if (place < 0) otherwise = ms
    else named.set(text.slice(0, place), ms)
  }
  return { named, otherwise }
}

function demandKnown(named: ReadonlyMap<string, number>, jobOf: ReadonlyMap<string, string>): void {
  const known = new Set([...jobOf.keys(), ...jobOf.values()])
  const unknown = [...named.keys()].find((name) => !known.has(name))
  if (unknown === undefined) return
  throw new UsageError(
    `--duration names "${unknown}", but no job or schedule has that name.`,
    'Check the name: cronce list.',
  )
}

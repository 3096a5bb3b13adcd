// One library in its own process. The parent directs it, so that the rounds of all libraries interleave.
import { LIBRARY_NAMES, type LibraryName, loadLibrary } from './library.ts'
import { calibrate, prepareQuestions, type Timed } from './measure.ts'
import { calibrateParse, parsedAnswers, parseRound } from './measure-parse.ts'
import type { Prepared, Reply, Request, Round } from './protocol.ts'
import { PARSE_WORKLOADS, questionsOf, WORKLOADS, type Workload } from './workloads.ts'

const MOST_ANSWERS = 5_000
const LEAST_ANSWERS = 100
const MILLION = 1_000_000

const name = LIBRARY_NAMES.find((known) => known === process.argv[2])
if (name === undefined) throw new Error(`No such library: ${process.argv[2]}`)
const library = await loadLibrary(name satisfies LibraryName)

/** What a round of the prepared workload does. */
let roundOf: (round: number) => Round = () => {
  throw new Error('Nothing is prepared.')
}

process.on('message', (request: Request) => {
  process.send!(answer(request))
})
process.send!({ is: 'ready' })

function answer(request: Request): Reply {
  try {
    return request.do === 'prepare' ? prepare(request) : roundOf(request.round)
  } catch (error) {
    return { is: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function prepare(request: Extract<Request, { do: 'prepare' }>): Prepared {
  const { roundMs, warmMs } = request
  const parsing = PARSE_WORKLOADS.find((known) => known.name === request.workload)
  if (parsing !== undefined) {
    // Longer rounds: parsing makes garbage, and a short round would not see it collected.
    const ops = calibrateParse(library, parsing, roundMs * 3, warmMs)
    roundOf = (round) => finished(parseRound(library, parsing, round, ops), ops)
    return { is: 'prepared', ops, answers: parsedAnswers(library, parsing, Math.min(ops, MOST_ANSWERS)) }
  }

  const workload = WORKLOADS.find((known) => known.name === request.workload)
  if (workload === undefined) throw new Error(`No such workload: ${request.workload}`)
  const cannot = whyNot(workload)
  if (cannot !== undefined) return { is: 'prepared', cannot, ops: 0, answers: [] }
  moveHost(workload)
  const prepared = prepareQuestions(library, workload, questionsOf(workload))
  if (typeof prepared === 'string') return { is: 'prepared', cannot: prepared, ops: 0, answers: [] }
  const fitting = calibrate(prepared, roundMs, warmMs)
  // Libraries that are fast enough run the full million; for the others it is projected.
  const ops = workload.bars === 'million' && fitting * 20 >= MILLION ? MILLION : fitting
  const answers = prepared.answer(Math.max(ops, LEAST_ANSWERS))
  // What the clock sees must be what the other libraries' answers were compared with, added up in the same order.
  let expected = 0
  for (let i = 0; i < ops; i++) expected += answers[i]!
  answers.length = Math.min(answers.length, MOST_ANSWERS)
  roundOf = () => {
    globalThis.gc?.()
    const timed = prepared.run(ops)
    if (timed.checksum !== expected) throw new Error(`Checksum ${timed.checksum}, expected ${expected}.`)
    return finished(timed, ops)
  }
  return { is: 'prepared', ops, answers }
}

function whyNot(workload: Workload): string | undefined {
  if (workload.ask === 'prev' && library.prev === undefined) return 'has no prev'
  if (!library.zones && workload.zones.length > 1 && workload.zones !== 'host') return 'one zone per process'
  return undefined
}

/** A library without zones is put where the zone is; all others get its name and live in UTC. */
function moveHost(workload: Workload): void {
  const zone = library.zones || workload.zones === 'host' ? 'UTC' : workload.zones[0]
  Object.assign(process.env, { TZ: zone })
}

function finished(timed: Timed, ops: number): Round {
  return { is: 'round', nsPerOp: timed.ns / ops, checksum: timed.checksum }
}

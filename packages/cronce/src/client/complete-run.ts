import { CronceError } from '../errors.ts'
import { hash32 } from '../model/bucket.ts'
import type { Json } from '../model/json.ts'
import { cut, LIMITS } from '../model/limits.ts'
import { ending } from '../model/outcome.ts'
import type { RunRecord } from '../model/record.ts'
import { NOBODY } from '../model/schedule.ts'
import { STALE } from '../policy/decision.ts'
import { type Settlement, settle } from '../policy/end/settle.ts'
import { isEqual } from '../policy/equal.ts'
import { findRun } from '../store/list-views.ts'
import { readStore } from './ask-store.ts'
import { changeSchedule } from './change-schedule.ts'
import type { ClientParts } from './parts.ts'
import { readCommand } from './read-command.ts'
import { readInput } from './read-input.ts'
import { readBoolean, readChoice, readText } from './read-option.ts'

/** How work that goes on elsewhere has ended. */
export interface Completion {
  readonly outcome: 'succeeded' | 'failed'
  /** Kept with the run, up to 16 KB. @default null */
  readonly result?: Json | undefined
  /** What went wrong, where it failed. */
  readonly error?: string | undefined
  /** Whether a failure is worth another run, if the job's policy has one. @default true */
  readonly retryable?: boolean | undefined
}

/**
 * How long to keep looking for the parked run: the call-back may arrive before the instance has recorded that the run
 * is parked.
 */
const PATIENCE_MS = 5_000
const PAUSE_MS = 100

export async function completeRun<Tx>(
  parts: ClientParts<Tx>,
  schedule: string,
  token: string,
  completion: Completion,
): Promise<void> {
  const settlement = readCompletion(token, completion)
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    const verdict = await tryComplete(parts, schedule, settlement)
    if (verdict === 'completed') return
    if (waitedMs >= PATIENCE_MS) throw notParked(schedule, token)
    await parts.context().clock.pause(PAUSE_MS)
  }
}

async function tryComplete<Tx>(
  parts: ClientParts<Tx>,
  schedule: string,
  settlement: Settlement,
): Promise<'completed' | 'not-parked'> {
  let isParked = true
  await changeSchedule(parts, schedule, async (state, context) => {
    const run = state.open.find((fire) => fire.run?.token === settlement.token)?.run
    isParked = run?.parkedUntil !== undefined
    if (run !== undefined && run !== null && !isParked) return null
    const decision = settle(state, settlement, context)
    if (decision !== STALE) return decision
    isParked = true
    await demandSame(parts, schedule, settlement)
    return null
  })
  return isParked ? 'completed' : 'not-parked'
}

/** The run has ended. The same call-back may come again, since its answer may have been lost; another one is refused. */
async function demandSame<Tx>({ store }: ClientParts<Tx>, schedule: string, settlement: Settlement): Promise<void> {
  const { token } = settlement
  const found = await readStore('look for a run', () => findRun(store, { schedule }, token))
  if (found !== undefined && found.instance === NOBODY && isSame(found, settlement)) return
  throw new CronceError('RUN_NOT_OPEN', `Run ${token} of ${JSON.stringify(schedule)} has ended otherwise.`, {
    hint: 'Look at the run: it has ended with another outcome, result or error, or the token is of another schedule.',
  })
}

function isSame(run: RunRecord, { ending, result, error }: Settlement): boolean {
  // As a store gives it back: without a sign before zero.
  const kept: unknown = JSON.parse(JSON.stringify(result))
  return run.ending?.reason === ending.reason && isEqual(run.result, kept) && run.error?.message === error?.message
}

function readCompletion(token: string, completion: Completion): Settlement {
  const fields = readCommand(completion, ['outcome', 'result', 'error', 'retryable'])
  const outcome = readChoice('outcome', fields.outcome, ['succeeded', 'failed'])
  const result = fields.result === undefined ? null : readInput(fields.result)
  const retryable = readBoolean('retryable', fields.retryable ?? true)
  const kept = keptResult(result)
  if (outcome === 'succeeded') {
    return { token, ending: ending('completed'), error: null, result: kept, retryable: false, handBack: null }
  }
  const text = fields.error === undefined ? 'It failed.' : readText('error', fields.error, LIMITS.input)
  const message = cut(text, LIMITS.errorMessage)
  const error = { name: 'Error', message, code: null, stack: null }
  return { token, ending: ending('error', message), error, result: kept, retryable, handBack: null }
}

/** What is too long is known by its length and hash, so that another result is not taken for the same one. */
function keptResult(result: Json): Json {
  const text = JSON.stringify(result)
  const bytes = Buffer.byteLength(text)
  if (bytes <= LIMITS.result) return result
  return `[cut: ${bytes} bytes, hash ${hash32(text).toString(16)}]`
}

function notParked(schedule: string, token: string): CronceError {
  return new CronceError('RUN_NOT_PARKED', `Run ${token} of ${JSON.stringify(schedule)} is still at an instance.`, {
    hint: 'Call again in a moment; only runs whose target answered 202 wait for a call-back.',
  })
}

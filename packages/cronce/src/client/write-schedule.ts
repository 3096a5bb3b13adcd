import { didYouMean } from '../did-you-mean.ts'
import { CronceError } from '../errors.ts'
import { isInternal } from '../model/exclusive-jobs.ts'
import type { Definition, ScheduleState } from '../model/schedule.ts'
import type { Context, Decision, Refusal } from '../policy/decision.ts'
import { define } from '../policy/operate/define.ts'
import type { InTransaction, Store } from '../store/store.ts'
import { changedDefinition } from './activity.ts'
import { asCode } from './as-code.ts'
import { readStore } from './ask-store.ts'
import { cannotTransact } from './cannot-transact.ts'
import { changeAny, scheduleNotFound } from './change-schedule.ts'
import { inSubject } from './in-subject.ts'
import { viewSchedule } from './make-view.ts'
import type { ClientParts } from './parts.ts'
import type { Operator } from './read-command.ts'
import { type ReadDefinition, readDefinition } from './read-definition.ts'
import { readOwnName } from './read-name.ts'
import { isRecord, optionInvalid } from './read-option.ts'
import type { NewSchedule } from './schedule-options.ts'
import { demandInput } from './standard-schema.ts'
import type { ScheduleView } from './views.ts'

/** A schedule as it was written, and what was changed about it on the way. */
export interface WrittenSchedule extends ScheduleView {
  readonly warnings: readonly string[]
}

export type WriteMode = 'create' | 'put' | 'replace'

export async function writeSchedule<Tx>(
  parts: ClientParts<Tx>,
  mode: WriteMode,
  name: string,
  options: NewSchedule,
  { by, ...inTransaction }: InTransaction<Tx> & { readonly by: Operator },
): Promise<WrittenSchedule> {
  const { definition, warnings } = await readSchedule(parts, name, options, inTransaction)
  const unknown = await warnOfJob(parts, definition.job, inTransaction)
  const changed = await changeAny(
    parts,
    name,
    async (state, context) => {
      if (mode === 'create' && state !== null) throw scheduleExists(state)
      if (mode === 'replace' && state === null) throw await scheduleNotFound(parts, name)
      return defineByClient(state, name, definition, context)
    },
    { ...inTransaction, act: { action: mode, by, changed: changedDefinition } },
  )
  // A definition creates nothing with a nonce and removes nothing.
  if (changed.kind === 'exists' || changed.state === null) throw new Error('A definition leaves a schedule behind.')
  for (const warning of unknown) parts.warn?.(warning)
  return { ...viewSchedule(changed.state), warnings: [...warnings, ...unknown] }
}

/** A misspelt job would wait for ever without a word. Not an error: its instances may be about to start. */
async function warnOfJob<Tx>(
  { store, jobNames }: ClientParts<Tx>,
  job: string,
  { tx }: InTransaction<Tx>,
): Promise<readonly string[]> {
  // Inside the caller's transaction we run only the queries that are needed.
  const own = jobNames?.() ?? []
  if (own.includes(job) || tx !== undefined) return []
  const { instances } = await readStore('list instances', () => store.listInstances({ ended: 0 }))
  const live = instances.filter(({ state }) => state === 'live' || state === 'draining')
  const known = [...new Set([...own, ...live.flatMap(({ jobs }) => jobs)])]
  if (known.length === 0 || known.includes(job)) return []
  const meant = didYouMean(job, known)
  const unknown = `No live instance has the job ${JSON.stringify(job)}`
  return [meant === undefined ? `${unknown}.` : `${unknown}; did you mean ${meant}?`]
}

/** Reads the options as this process knows the job, and holds the input against its schema. */
export async function readSchedule<Tx>(
  { store, defaultsOf, inputSchemaOf, jobNames, calendars }: ClientParts<Tx>,
  name: string,
  options: NewSchedule,
  inTransaction: InTransaction<Tx> = {},
): Promise<ReadDefinition> {
  demandJob(name, options, jobNames?.() ?? [])
  const job: unknown = (options as NewSchedule | null | undefined)?.job
  const defaults = typeof job === 'string' ? defaultsOf?.(job) : undefined
  const read = readDefinition(name, options, defaults, 'Schedule', calendars)
  const { definition } = read
  if (definition.policy.guarantee === 'exactly-once') await demandTransactions(store, inTransaction)
  const schema = inputSchemaOf?.(definition.job)
  // A manual schedule may get its input with each trigger.
  const isNeeded = definition.trigger !== null || definition.input !== null
  if (schema !== undefined && isNeeded) await demandInput(schema, definition.job, definition.input)
  return read
}

/** How many jobs a hint lists. */
const MOST_LISTED = 5

function demandJob(name: string, options: unknown, jobs: readonly string[]): void {
  const given: { readonly job?: unknown } | null = isRecord(options) ? options : null
  if (given !== null && given.job !== undefined && given.job !== null && given.job !== '') return
  const own = jobs.filter((job) => !isInternal(job))
  const [first = 'billing'] = [didYouMean(name, own), ...own].filter((job) => job !== undefined)
  const rest = own.length > MOST_LISTED ? ` and ${own.length - MOST_LISTED} more` : ''
  const known = own.length === 0 ? '' : ` The jobs of this process: ${own.slice(0, MOST_LISTED).join(', ')}${rest}.`
  inSubject('Schedule', readOwnName('schedule', name), () => {
    const job = `job: ${asCode(first)}`
    if (given === null) throw optionInvalid('', options, 'an object with job', `Write { ${job} }.${known}`)
    const expected = 'the name of the job that the schedule is for'
    throw optionInvalid('job', given.job, expected, `Add ${job}.${known}`)
  })
}

async function demandTransactions<Tx>(store: Store<Tx>, inTransaction: InTransaction<Tx>): Promise<void> {
  // It may be the first that is asked of the store, which is opened by being asked.
  await readStore('open it', () => store.load([], inTransaction))
  if (store.info.transactions) return
  throw cannotTransact(`${store.info.name} has no transactions, which exactly-once needs.`)
}

export function defineByClient(
  state: ScheduleState | null,
  name: string,
  definition: Definition,
  context: Context,
): Decision | Refusal | null {
  return define(state, name, { definition, source: { kind: 'client' } }, context)
}

export function scheduleExists({ id, source }: ScheduleState): CronceError {
  const owner = source.kind === 'code' ? `, declared in the code of ${source.app}` : ''
  return new CronceError('SCHEDULE_EXISTS', `There is a schedule ${JSON.stringify(id)} already${owner}.`, {
    hint: source.kind === 'code' ? 'Choose another name.' : 'Use put to replace it, or choose another name.',
  })
}

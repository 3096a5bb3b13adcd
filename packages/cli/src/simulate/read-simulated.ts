import type { Store } from 'cronce'
import { type Declaration, isInternal, isRunByCaller } from 'cronce/internal'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { findStoreOrDefault, storeWords, withoutSecrets } from '../open-store.ts'
import type { ScheduleState, StoreCopy } from '../plan/copy-store.ts'
import { openToRead, readDeclared } from '../plan/read-declared.ts'
import { rehearse } from '../plan/rehearse.ts'
import { UsageError } from '../usage-error.ts'
import { recordedDurations } from './durations.ts'

/** What is simulated, from when on. */
export interface Simulated {
  /** `app shop` or the store, for people. */
  readonly what: string
  readonly from: number
  readonly states: readonly ScheduleState[]
  readonly recorded: ReadonlyMap<string, readonly number[]>
}

const PAGE = 200

/** The schedules that files declare, as if they were deployed on an empty store. With `--recorded`, how long their runs took on the store. */
export async function readCode(args: Args, io: Io, from: number): Promise<Simulated> {
  const code = await readDeclared(args, io, 'simulate')
  const [{ settings }] = code.declarations as readonly [Declaration, ...Declaration[]]
  const { app } = settings
  const nothing: StoreCopy = { now: from, app, apps: new Map(), schedules: new Map(), instances: [] }
  const { deployed } = await rehearse(code.declarations, nothing, undefined)
  const states = [...deployed.values()].filter(isSimulated)
  const what = `App ${app}, as the code declares it`
  if (!args.has('recorded')) return { what, from, states, recorded: new Map() }
  const recorded = await withoutSecrets(code.secrets, async () => {
    const store = await code.open(io)
    return readThenClose(store, () => recordedDurations(store, namesOf(states)))
  })
  return { what: `${what}, with the durations on ${code.where}`, from, states, recorded }
}

/** The schedules of the store from now on, with its pauses and the durations of their latest runs. */
export async function readStore(args: Args, io: Io): Promise<Simulated> {
  if (args.has('from'))
    throw new UsageError('--from is for files with jobs.', 'The schedules of a store go on from now.')
  const { store, namespace, secrets } = await findStoreOrDefault(args, io)
  return withoutSecrets(secrets, async () => {
    const opened = await openToRead(store, namespace ?? 'default', io)
    return readThenClose(opened, async () => {
      const { now, states } = await statesOf(opened)
      const recorded = await recordedDurations(opened, namesOf(states))
      return { what: `The schedules on ${storeWords(store)}`, from: now, states, recorded }
    })
  })
}

async function readThenClose<Value>(store: Store, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read()
  } finally {
    await store.close()
  }
}

/** Leaves out open fires: how long they will take is unknown. */
async function statesOf(store: Store): Promise<{ readonly now: number; readonly states: readonly ScheduleState[] }> {
  const states: ScheduleState[] = []
  const { now } = await store.loadApp('')
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<Store['listSchedules']>> = await store.listSchedules({ after, limit: PAGE })
    states.push(...page.items.filter(isSimulated))
    if (page.next === null) break
    after = page.next
  }
  return { now, states: states.map((state) => ({ ...state, open: [], backfills: [], wakeAt: null })) }
}

/** Locks, terms and alerts have no due times; a retired schedule has none any more. */
function isSimulated({ definition, retiredAt }: ScheduleState): boolean {
  return retiredAt === null && !isInternal(definition.job) && !isRunByCaller(definition.job)
}

function namesOf(states: readonly ScheduleState[]): readonly string[] {
  return states.map(({ id }) => id)
}

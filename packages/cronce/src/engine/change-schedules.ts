import type { ScheduleState } from '../model/schedule.ts'
import { appChanged } from '../policy/contention.ts'
import type { Context, Decision } from '../policy/decision.ts'
import { applyDecisions, type Changed, changeSchedules, type Patience, type Writes } from '../store/change-schedules.ts'
import type { ApplyOptions, Loaded } from '../store/store.ts'
import type { Core } from './core.ts'
import { applyChanges, callStore } from './store-calls.ts'

export type Decide = (id: string, state: ScheduleState | null, context: Context) => Decision | null

/** Changes schedules as this instance. Each call has a deadline, and so have all attempts together. */
export async function changeAsInstance(
  core: Core,
  operation: string,
  ids: readonly string[],
  decide: Decide,
  options: ApplyOptions<unknown> = {},
  done = new Map<string, Changed>(),
): Promise<ReadonlyMap<string, Changed>> {
  const { app } = options
  const access = {
    ...patienceOf(core),
    ...writesOf(core, operation, options),
    async load(asked: readonly string[]) {
      const sentAt = core.parts.clock.mono()
      const loaded = await callStore(core, `${operation} (read)`, () => core.parts.store.load(asked))
      core.time.observe(loaded.now, sentAt)
      core.epochs.observe(loaded.epoch)
      return loaded
    },
    context: (loaded: Loaded) => core.context(loaded),
    // If the app's record has changed, every further attempt would meet the same conflict.
    beforeRetry: async () => app && demandUnchanged(core, app),
  }
  return changeSchedules(access, ids, decide, done)
}

/** Writes decisions as this instance. Returns the ids of the schedules to decide about again. Throws when the store does. */
export function applyAsInstance(
  core: Core,
  operation: string,
  decisions: readonly Decision[],
  options: ApplyOptions<unknown>,
  done: Map<string, Changed>,
): Promise<string[]> {
  return applyDecisions(writesOf(core, operation, options), decisions, done)
}

/** The deadline counts from this call. */
export function patienceOf({ parts: { clock, random }, settings }: Core): Patience {
  return { clock, random, givenUpAt: clock.mono() + settings.storeDeadlineMs }
}

function writesOf(core: Core, operation: string, options: ApplyOptions<unknown>): Writes {
  return {
    async apply(changes) {
      const sentAt = core.parts.clock.mono()
      const answer = await applyChanges(core, operation, changes, options)
      core.time.observe(answer.now, sentAt)
      return answer
    },
    applied: (decision) => core.applied(decision),
  }
}

async function demandUnchanged(
  core: Core,
  { name, version }: NonNullable<ApplyOptions<unknown>['app']>,
): Promise<void> {
  const { app } = await callStore(core, 'deploy (read)', () => core.parts.store.loadApp(name))
  if ((app?.version ?? 0) !== version) throw appChanged(name)
}

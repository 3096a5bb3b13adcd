import { CronceError } from '../errors.ts'
import { alertsSchedule, RESERVED_PREFIX } from '../model/exclusive-jobs.ts'
import type { ScheduleState } from '../model/schedule.ts'
import { isRenamedTo, namesBefore } from '../policy/deploy/continue-job.ts'
import { announceRetirements } from '../policy/deploy/deployment.ts'
import { remove } from '../policy/operate/remove.ts'
import { isRefusal } from '../policy/refusals.ts'
import type { Act } from './activity.ts'
import { readStore, writeStore } from './ask-store.ts'
import { changeAny, changeSchedule, type DecideOnAny } from './change-schedule.ts'
import type { ClientParts } from './parts.ts'
import type { Operator } from './read-command.ts'

interface RemoveCommand {
  readonly force: boolean
}

export async function removeSchedule<Tx>(
  parts: ClientParts<Tx>,
  id: string,
  command: RemoveCommand,
  by: Operator,
): Promise<void> {
  if (id.startsWith(RESERVED_PREFIX) && !command.force) throw usedByCronce(id)
  let app: string | null = null
  const act: Act = { action: 'remove', by, changed: removed }
  await changeSchedule(
    parts,
    id,
    async (state, context) => {
      app = appOf(state)
      const decision = remove(state, command, context)
      if (!isRefusal(decision)) await removeOldNames(parts, state, command, act)
      return decision
    },
    { act },
  )
  if (app !== null) await announceRemoval(parts, app, id)
}

/**
 * Removes the old names of a job before the job. A process that declares the job again would continue where an old name stopped, and
 * repeat instants that the removed name has run.
 */
async function removeOldNames<Tx>(
  parts: ClientParts<Tx>,
  state: ScheduleState,
  command: RemoveCommand,
  act: Act,
  seen = new Set([state.id]),
): Promise<void> {
  // The stretch that has not ended names the successor.
  const ended = (state.retirements ?? []).filter(({ to }) => to !== null)
  const names = namesBefore({ ...state, retirements: ended }).filter((name) => !seen.has(name))
  if (names.length === 0) return
  for (const name of names) seen.add(name)
  const { schedules } = await readStore('load old names', () => parts.store.load(names))
  // An old name of another app is that of its own job.
  const isBefore = (one: ScheduleState): boolean => isRenamedTo(one, state.id) && appOf(one) === appOf(state)
  for (const old of schedules.filter(isBefore)) {
    await removeOldNames(parts, old, command, act, seen)
    const decide: DecideOnAny = (found, context) =>
      found !== null && isBefore(found) ? remove(found, command, context) : null
    await changeAny(parts, old.id, decide, { act })
  }
}

const removed: Act['changed'] = (_, before) => ({ job: before?.definition.job ?? null, open: before?.open.length ?? 0 })

const ANNOUNCEMENTS = 5

/** Live processes of the app that declare the schedule declare it again with their next heartbeat, and judge anew what is to retire. */
async function announceRemoval<Tx>({ store }: ClientParts<Tx>, app: string, id: string): Promise<void> {
  for (let tries = 0; tries < ANNOUNCEMENTS; tries++) {
    const { app: record } = await readStore('load an app', () => store.loadApp(app))
    if (record === null) return
    const announced = { ...announceRetirements(record, [id]), tidiedFor: null }
    if (await writeStore('change an app', () => store.saveApp(announced))) return
  }
}

function usedByCronce(id: string): CronceError {
  const isOfAlerts = id.startsWith(alertsSchedule(''))
  const message = isOfAlerts
    ? `${id} holds the alerts and mutes of an app: cronce uses it itself.`
    : `The schedule ${id} can't be removed without force: cronce uses it itself.`
  const hint = isOfAlerts
    ? 'If the app is gone for good, remove it by force.'
    : 'Remove it by force if its holder is to lose it, or leave it: cronce prunes a name that is not used for a day.'
  return new CronceError('NAME_RESERVED', message, { hint })
}

function appOf({ source }: ScheduleState): string | null {
  return source.kind === 'code' ? source.app : null
}

import type { Client, FireRef, FireView, OpenFireView, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { isToken } from '../find-fire.ts'
import { formatUtc } from '../format.ts'
import { readTime } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Which of the open fires of a schedule is meant: by the token of its run, the key of a manual fire, or a due time. A time
 * without fractions also means the one fire within its second, since lists show no more.
 */
export function findOpen(view: ScheduleView, which: string, time: { tz: string; now: number }): OpenFireView {
  const { name, open } = view
  const exact = open.find(({ token, nonce }) => token === which || (nonce !== '' && nonce === which))
  if (exact !== undefined) return exact
  if (isToken(which)) {
    throw new CronceError('RUN_NOT_OPEN', `Run ${which} of ${name} is not going on.`, { hint: openHint(open) })
  }
  const dueAt = dueOf(which, open, time)
  const due = open.filter((fire) => fire.dueAt === dueAt)
  const isWhole = dueAt % 1_000 === 0
  const near =
    due.length > 0 || !isWhole ? due : open.filter((fire) => Math.floor(fire.dueAt / 1_000) * 1_000 === dueAt)
  if (near.length === 1) return near[0]!
  if (near.length > 1)
    throw new UsageError(`"${which}" may be ${near.length} fires of ${name}.`, `Say which: ${openNames(near)}.`)
  throw new CronceError('FIRE_NOT_OPEN', `The schedule ${name} has no open fire due ${formatUtc(dueAt)}.`, {
    hint: openHint(open),
  })
}

/** A manual fire by its key; `null` if there is none, and the text is something else. */
export async function findByKey(client: Client, schedule: string, key: string): Promise<FireView | null> {
  if (key === '' || key.length > 200) return null
  const { items } = await client.fires.list({ schedule, nonce: key, limit: 1 })
  return items[0] ?? null
}

/** How to name them on the command line. */
export function openNames(open: readonly OpenFireView[]): string {
  const names = open.slice(0, 5).map(({ token, nonce, dueAt }) => token ?? (nonce || formatUtc(dueAt)))
  return `${names.join(', ')}${open.length > 5 ? ', …' : ''}`
}

export function refOf(schedule: string, { dueAt, nonce }: Pick<OpenFireView, 'dueAt' | 'nonce'>): FireRef {
  return { schedule, dueAt, nonce }
}

function dueOf(which: string, open: readonly OpenFireView[], { tz, now }: { tz: string; now: number }): number {
  try {
    return readTime(which, { name: 'The due time', tz, now })
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new CronceError('FIRE_NOT_OPEN', `No open fire is called ${JSON.stringify(which.slice(0, 200))}.`, {
      hint: openHint(open),
    })
  }
}

function openHint(open: readonly OpenFireView[]): string {
  return open.length === 0 ? 'Look again: it may have ended.' : `Open are: ${openNames(open)}.`
}

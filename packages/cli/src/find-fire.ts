import type { Connection, FireView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { shellWord } from 'cronce/internal'
import type { Args, Flags } from './args.ts'
import type { Io } from './io.ts'
import { readTime } from './time-words.ts'
import { UsageError } from './usage-error.ts'

export const FIRE_FLAGS = {
  nonce: { type: 'string', value: 'KEY', help: 'Key or id of a manual fire, if several are due at once' },
} as const satisfies Flags

/** Tokens begin at 2^44, which as milliseconds is the year 2527: a smaller number is a due time. */
const FIRST_TOKEN = 2n ** 44n

/** Whether an operand is the token of a run, rather than a due time. */
export function isToken(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) >= FIRST_TOKEN
}

/** The fire that is meant: by the token of one of its runs, by its due time, or `latest`, which nothing said means, too. */
export async function findFire(
  client: Connection,
  schedule: string,
  which: string | undefined,
  { args, io, tz }: { readonly args: Args; readonly io: Io; readonly tz: string },
): Promise<FireView> {
  if (which !== undefined && isToken(which)) {
    const { dueAt, nonce } = await client.runs.get(schedule, which)
    return client.fires.get({ schedule, dueAt, nonce })
  }
  if (which === undefined || which === 'latest') {
    // One that was skipped or brought back ahead of its time is not the latest that was due.
    for (const to of [io.now + 1, undefined]) {
      const { items } = await client.fires.list({ schedule, to, limit: 1 })
      if (items[0] !== undefined) return items[0]
    }
    await client.schedules.get(schedule)
    throw new CronceError('FIRE_NOT_FOUND', `No fire of ${JSON.stringify(schedule)} is on record.`, {
      hint: `See when it is due: cronce next ${shellWord(schedule)}`,
    })
  }
  // As milliseconds, it would be a moment of January 1970.
  if (/^(\d{1,3}|\d{5,9})$/.test(which)) {
    throw new UsageError(
      `"${which}" is neither the token of a run nor a due time.`,
      `See the tokens: cronce runs ${schedule}. A due time is written 2027-01-01T03:00Z.`,
    )
  }
  const dueAt = readTime(which, { name: 'The due time', tz, now: io.now })
  const nonce = args.text('nonce')
  if (nonce !== undefined) return client.fires.get({ schedule, dueAt, nonce })
  const { items } = await client.fires.list({ schedule, from: dueAt, to: dueAt + within(dueAt), limit: 10 })
  const exact = items.filter((fire) => fire.dueAt === dueAt)
  const meant = exact.length > 0 ? exact : items
  if (meant.length > 1) {
    throw new UsageError(
      `${meant.length} fires of ${schedule} were due then.`,
      exact.length > 1
        ? `Add --nonce with one of: ${meant.map((fire) => JSON.stringify(fire.nonce)).join(', ')}.`
        : `Write one of: ${meant.map((fire) => new Date(fire.dueAt).toISOString()).join(', ')}.`,
    )
  }
  // A range that the instant is in is found by its name only.
  return meant[0] ?? client.fires.get({ schedule, dueAt })
}

/** Tables show no fractions: a time without any means the second. */
function within(dueAt: number): number {
  return dueAt % 1_000 === 0 ? 1_000 : 1
}

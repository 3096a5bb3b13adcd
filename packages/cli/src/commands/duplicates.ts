import type { Connection, FireView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { DETECT_JOB, didYouMean } from 'cronce/internal'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { type Column, OUTPUT_FLAGS, printList } from '../output.ts'
import { PAGE_FLAGS, readPage } from '../paging.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

export const duplicates: Command = {
  operands: '[<name>]',
  examples: [
    ['cronce duplicates', 'executions that happened although there had been one, the latest first'],
    ['cronce duplicates nightly-report --from now-7d', 'of one name, within a week'],
  ],
  about:
    'Wrap a job of any scheduler in app.detect(name, { window }, work) to have its executions counted. Kept for 30 days.',
  flags: {
    from: { type: 'string', value: 'TIME', help: 'From then on: now-2h, yesterday, 2027-03-28T01:30' },
    to: { type: 'string', value: 'TIME', help: 'Before then' },
    ...PAGE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runDuplicates,
}

interface Duplicate {
  readonly name: string
  readonly at: number
  readonly host: string
  readonly pid: number
  readonly instance: string
  /** When the execution began that this one repeats. */
  readonly duplicateOf: number
  readonly refused: boolean
}

function runDuplicates(args: Args, io: Io): Promise<number> {
  const [name] = atMost(args, 1, 'duplicates')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const from = timeFlag(args, 'from', { tz, now: io.now })
    const to = timeFlag(args, 'to', { tz, now: io.now })
    const schedule = name === undefined ? undefined : `${DETECT_JOB}:${name}`
    const filter = { job: DETECT_JOB, outcome: 'skipped', schedule, from, to } as const
    const { items: fires, next } = await readPage(args, (page) => client.fires.list({ ...filter, ...page }))
    if (fires.length === 0 && name !== undefined) await demandDetected(client, name)
    const items = fires.map(duplicateOf)
    printList({ items, next, columns: columnsIn(tz), name: (one) => one.name, empty: 'No duplicates.' }, args, io)
    return 0
  })
}

/** A name that `app.detect` has not recorded is a mistake rather than an empty list. */
async function demandDetected(client: Connection, name: string): Promise<void> {
  if ((await client.schedules.find(`${DETECT_JOB}:${name}`)) !== null) return
  const { items } = await client.schedules.list({ job: DETECT_JOB, limit: MOST_NAMES })
  const names = items.map((schedule) => schedule.name.slice(DETECT_JOB.length + 1))
  const meant = didYouMean(name, names)
  throw new CronceError('SCHEDULE_NOT_FOUND', `No execution of ${JSON.stringify(name)} is on record.`, {
    hint: meant === undefined ? 'List all of them: cronce duplicates.' : `Did you mean ${meant}?`,
  })
}

/** How many names are looked through for the one that was meant. */
const MOST_NAMES = 200

function duplicateOf({ schedule, dueAt, input }: FireView): Duplicate {
  return { name: schedule.slice(DETECT_JOB.length + 1), at: dueAt, ...(input as Omit<Duplicate, 'name' | 'at'>) }
}

function columnsIn(tz: string): readonly Column<Duplicate>[] {
  return [
    { title: 'TIME', value: ({ at }) => formatInstant(at, tz) },
    { title: 'NAME', value: ({ name }) => name, color: () => 'bold' },
    { title: 'HOST', value: ({ host }) => host },
    { title: 'PID', value: ({ pid }) => String(pid), align: 'right' },
    { title: 'INSTANCE', value: ({ instance }) => instance, wide: true },
    { title: 'FIRST', value: (one) => formatInstant(one.duplicateOf, tz) },
    { title: 'REFUSED', value: ({ refused }) => (refused ? 'yes' : 'no') },
  ]
}

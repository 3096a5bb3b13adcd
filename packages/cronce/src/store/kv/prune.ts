import type { Change } from '../../model/change.ts'
import type { FireKey, HistoryRecord } from '../../model/record.ts'
import { StoreError } from '../store-error.ts'
import { pruneActivity, pruneActivityOf } from './activity.ts'
import type { Context } from './context.ts'
import { foldCounts } from './counts.ts'
import type { Entry, Group, Guard } from './driver.ts'
import { linesIn } from './facts.ts'
import type { Instances } from './instances.ts'
import { decodeName, decodeNumber, encodeName, encodeNumber } from './keys.ts'
import { deleteLine } from './lines.ts'
import { Writes } from './writes.ts'

const TRIM_LIMIT = 200
/** Ended later than its number says (the clock was set back), or ahead of its time: look past it, but not for ever. */
const TRIM_LOOKS = 5 * TRIM_LIMIT
const BITE = 100
const DAY_MS = 86_400_000

/** A fire as it was read, to be deleted if it is still so. */
interface Doomed {
  readonly fire: FireKey
  readonly lines: readonly HistoryRecord[]
  readonly revision: number
}

export async function trim(
  context: Context,
  schedule: string,
  { belowNumber, endedBefore }: NonNullable<Change['trim']>,
): Promise<void> {
  const { keys, driver } = context
  const name = encodeName(schedule)
  const to = keys.key('n', name, encodeNumber(belowNumber))
  let { from } = keys.below('n', name)
  let left = TRIM_LIMIT
  for (let looks = 0; looks < TRIM_LOOKS && left > 0; looks += BITE) {
    const { entries } = (await driver.read([{ from, to, limit: BITE }])).found[0]!
    const numbers = entries.map(({ key }) => decodeNumber(keys.parts(key)[2]!))
    const found = await readFires(
      context,
      entries.map((entry) => fireOf(schedule, entry)),
    )
    const doomed = found.filter(({ lines }, index) => {
      const final = lines.findLast(({ isFinal }) => isFinal)
      // A fire goes when the number of its final line is reached.
      if (final === undefined || final.number !== numbers[index]) return false
      return Math.max(final.endedAt, final.dueAt) < endedBefore
    })
    left -= await deleteFires(context, doomed.slice(0, left))
    if (entries.length < BITE) return
    from = `${entries.at(-1)!.key}\0`
  }
}

function fireOf(schedule: string, { value }: Entry): FireKey {
  const [dueAt, nonce] = JSON.parse(value) as [number, string]
  return { schedule, dueAt, nonce }
}

async function readFires({ keys, driver }: Context, fires: readonly FireKey[]): Promise<Doomed[]> {
  if (fires.length === 0) return []
  const { found, revision } = await driver.read(fires.map((fire) => keys.linesOf(fire)))
  return fires.map((fire, index) => ({ fire, lines: linesIn(found[index]!), revision }))
}

/** With all that hangs on them. Those that have changed since they were read stay. Answers how many went. */
async function deleteFires(context: Context, doomed: readonly Doomed[], also: readonly Guard[] = []): Promise<number> {
  const { driver, identity, keys } = context
  const guards = [identity.guard, ...also]
  const puts = [{ key: keys.lineBell, value: '' }]
  let deleted = 0
  for (let rest = doomed.map((one) => deletion(context, one)); rest.length > 0; ) {
    const { isHeld, written } = await driver.commit({ guards, puts, groups: rest })
    if (!isHeld) return deleted
    deleted += written.filter((isWritten) => isWritten).length
    rest = rest.slice(written.length)
  }
  return deleted
}

function deletion({ keys }: Context, { fire, lines, revision }: Doomed): Group {
  const writes = new Writes()
  for (const line of lines) {
    deleteLine(keys, writes, line)
    if (line.run !== null) writes.delete(keys.notes(line.schedule, line.run.token))
  }
  if (fire.nonce !== '') writes.delete(keys.nonce(fire.schedule, fire.nonce))
  return {
    // A new round, or another run, would have written one of its lines.
    guards: [{ range: keys.linesOf(fire), is: 'quiet', revision }],
    puts: [],
    deletes: writes.deletes,
    clears: [keys.below(...keys.stepsOf(fire))],
  }
}

export async function prune(context: Context, instances: Instances, limit: number): Promise<number> {
  const { keys, driver, time, identity } = context
  const now = time.now()
  const past = { from: keys.key('x', ''), to: keys.key('x', encodeNumber(now + 1)) }
  let deleted = 0
  while (deleted < limit) {
    const most = Math.min(BITE, limit - deleted)
    const { entries } = (await driver.read([{ ...past, limit: most, keysOnly: true }])).found[0]!
    const gone = await deleteFires(
      context,
      await readFires(
        context,
        entries.map(({ key }) => expiringFire(context, key)),
      ),
    )
    deleted += gone
    if (entries.length < most || gone === 0) break
  }
  const ended = { from: keys.key('gt', ''), to: keys.key('gt', encodeNumber(now - DAY_MS + 1)) }
  const { entries } = (await driver.read([{ ...ended, limit: BITE, keysOnly: true }])).found[0]!
  const groups = (await instances.forgettable(entries)).map(({ key }): Group => {
    const name = keys.parts(key)[2]!
    return { guards: [], puts: [], deletes: [key, keys.key('g', name), keys.key('go', name)] }
  })
  if (groups.length > 0) await driver.commit({ guards: [identity.guard], puts: [], groups })
  await foldCounts(context)
  await pruneActivity(context, limit)
  return deleted
}

function expiringFire({ keys }: Context, key: string): FireKey {
  const [, , schedule, dueAt, nonce] = keys.parts(key)
  return { schedule: decodeName(schedule!), dueAt: decodeNumber(dueAt!), nonce: decodeName(nonce!) }
}

/** Of a schedule that does not exist. */
export async function pruneSchedule(context: Context, schedule: string, limit: number): Promise<number> {
  const { keys, driver, identity } = context
  const name = encodeName(schedule)
  const [lines, steps] = [keys.below('f', name), keys.below('p', name)]
  const few = { limit, keysOnly: true }
  const { found } = await driver.read([{ get: keys.state(schedule) }, { ...lines, ...few }, { ...steps, ...few }])
  if (found[0]!.entries.length > 0) {
    throw new StoreError('SCHEDULE_EXISTS', `Schedule ${schedule} still exists.`, {
      hint: 'Remove it first: its records are what keeps it from running twice.',
    })
  }
  await pruneActivityOf(context, schedule)
  const fires = new Map<string, FireKey>()
  for (const { key } of [...found[1]!.entries, ...found[2]!.entries]) {
    const [, , dueAt, nonce] = keys.parts(key)
    const fire = { schedule, dueAt: decodeNumber(dueAt!), nonce: decodeName(nonce!) }
    if (fires.size < limit) fires.set(`${dueAt}\0${nonce}`, fire)
  }
  // If it is made again meanwhile, its records are needed again.
  const guards: Guard[] = [{ key: keys.state(schedule), is: 'absent' }]
  if (fires.size > 0) return deleteFires(context, await readFires(context, [...fires.values()]), guards)
  // What runs told whose end is not on record.
  const groups: Group[] = [{ guards, puts: [], deletes: [], clears: [keys.below('t', name)] }]
  await driver.commit({ guards: [identity.guard], puts: [], groups })
  return 0
}

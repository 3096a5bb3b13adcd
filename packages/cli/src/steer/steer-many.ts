import type { Client, ScheduleView } from 'cronce'
import { CronceError } from 'cronce/cron'
import type { Args } from '../args.ts'
import { type Authored, confirm } from '../confirm.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { inParallel } from '../in-parallel.ts'
import type { Io } from '../io.ts'
import { note, printJson, warn } from '../output.ts'
import { progressLine } from '../progress.ts'
import { counted, firstFew, say, whyWords } from './say.ts'
import { type Census, census, type Which } from './which-schedules.ts'

/** Something that is done to one schedule, or to many. */
export interface Steering {
  /** `Pause`, `paused`. */
  readonly verb: { readonly will: string; readonly did: string }
  /** Whether there is anything to do. By name it is done all the same where `evenSo` says so. */
  readonly wants: (view: ScheduleView) => boolean
  readonly evenSo: boolean
  /** What will happen to this one, in a sentence. */
  readonly plan: (view: ScheduleView) => string
  /** What will happen to all of them. */
  readonly planAll: string
  readonly change: (name: string) => Promise<ScheduleView>
  /** What has happened to this one. */
  readonly done: (after: ScheduleView) => string
  /** Who wants it and why, where that is kept nowhere. */
  readonly repeated?: Authored
}

const AT_A_TIME = 8
const FAILURES_SHOWN = 10

export async function steerMany(which: Which, steering: Steering, client: Client, args: Args, io: Io): Promise<number> {
  if (which.kind === 'named') return steerNamed(which.names, steering, client, args, io)
  const { glob } = which
  // A schedule may be called like a pattern.
  if (glob !== undefined && (await client.schedules.find(glob.text)) !== null) {
    return steerNamed([glob.text], steering, client, args, io)
  }
  return steerFiltered(which, steering, client, args, io)
}

async function steerNamed(
  names: readonly string[],
  steering: Steering,
  client: Client,
  args: Args,
  io: Io,
): Promise<number> {
  // All of them first: a slip in the last name must not leave the others changed.
  const views = await inParallel(names, AT_A_TIME, (name) => client.schedules.get(name))
  const wanted = views.filter((view) => steering.evenSo || steering.wants(view))
  const plan = {
    lines: views.map(steering.plan),
    dangerous: wanted.length > 1,
    json: { schedules: wanted.map(({ name }) => name) },
  }
  if (!(await confirm(plan, args, io))) return EXIT.ok
  const items: ScheduleView[] = []
  const why = repeatedWords(steering)
  for (const { name } of wanted) {
    const after = await steering.change(name)
    items.push(after)
    if (!args.has('json')) say(`${steering.done(after)}${why}`, io)
  }
  for (const view of views) if (!wanted.includes(view)) note(steering.plan(view), io)
  if (args.has('json'))
    printJson({ changed: items.length, unchanged: views.length - items.length, items, ...steering.repeated }, io)
  return EXIT.ok
}

async function steerFiltered(
  which: Extract<Which, { kind: 'filtered' }>,
  steering: Steering,
  client: Client,
  args: Args,
  io: Io,
): Promise<number> {
  const { signal } = io
  const line = progressLine(io)
  const found = await census(client, which, steering.wants, (count) => {
    signal.throwIfAborted()
    line.show(`${counted(count, 'schedule')} looked at`)
  })
  line.clear()
  const { wanted } = found
  const left = leftWords(found)
  if (wanted === 0) {
    if (args.has('json')) printJson({ changed: 0, unchanged: total(found), failed: [] }, io)
    else note(`Nothing to do among the schedules ${which.words}.${left}`, io)
    return EXIT.ok
  }
  const plan = {
    lines: [
      `${steering.verb.will} ${counted(wanted, 'schedule')} ${which.words}: ${firstFew(found.names, wanted)}.${left}`,
      steering.planAll,
    ],
    dangerous: true,
    json: { schedules: wanted, unchanged: total(found) },
  }
  if (!(await confirm(plan, args, io))) return EXIT.ok
  const tally: Tally = { changed: 0, failures: [] }
  try {
    await changeAll(which, steering, client, tally, () => {
      signal.throwIfAborted()
      line.show(`${tally.changed} of ${counted(wanted, 'schedule')} ${steering.verb.did}`)
    })
  } catch (error) {
    line.clear()
    warn(
      `Not all of it was done: ${tally.changed} of ${counted(wanted, 'schedule')} ${steering.verb.did}. Do it again for the rest.`,
      io,
    )
    throw error
  }
  line.clear()
  const { changed, failures } = tally
  if (args.has('json')) {
    const failed = failures.slice(0, 100).map(({ name, error: { code, message } }) => ({ name, code, message }))
    printJson({ changed, unchanged: total(found), failed, ...steering.repeated }, io)
  } else {
    say(`${counted(changed, 'schedule')} ${steering.verb.did}.${left}${repeatedWords(steering)}`, io)
  }
  for (const { name, error } of failures.slice(0, FAILURES_SHOWN)) warn(`${name}: ${error.message}`, io)
  if (failures.length > FAILURES_SHOWN) warn(`${failures.length - FAILURES_SHOWN} more failed.`, io)
  return failures.length === 0 ? EXIT.ok : EXIT.failed
}

interface Tally {
  changed: number
  readonly failures: { readonly name: string; readonly error: CronceError }[]
}

async function changeAll(
  { filter, glob }: Extract<Which, { kind: 'filtered' }>,
  steering: Steering,
  client: Client,
  tally: Tally,
  onDone: () => void,
): Promise<void> {
  const change = async (name: string): Promise<void> => {
    try {
      await steering.change(name)
      tally.changed++
    } catch (error) {
      // Without a store nothing will succeed; one that is gone meanwhile needs nothing.
      if (!(error instanceof CronceError) || exitCodeOf(error) === EXIT.unreachable) throw error
      if (error.code !== 'SCHEDULE_NOT_FOUND') tally.failures.push({ name, error })
    }
    onDone()
  }
  let batch: string[] = []
  for await (const view of client.schedules.all(filter)) {
    if (glob?.matches(view.name) === false || !steering.wants(view)) continue
    batch.push(view.name)
    if (batch.length < AT_A_TIME * 8) continue
    await inParallel(batch, AT_A_TIME, change)
    batch = []
  }
  await inParallel(batch, AT_A_TIME, change)
}

function total({ others }: Census): number {
  return [...others.values()].reduce((sum, count) => sum + count, 0)
}

function repeatedWords({ repeated }: Steering): string {
  return repeated === undefined ? '' : whyWords(repeated)
}

function leftWords({ others }: Census): string {
  const parts = [...others].map(([state, count]) => `${counted(count, 'that is', 'that are')} ${state}`)
  return parts.length === 0 ? '' : ` Left alone: ${parts.join(', ')}.`
}

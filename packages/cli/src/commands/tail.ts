import type { Client, FeedEntry } from 'cronce'
import type { Args } from '../args.ts'
import { EXIT } from '../exit-code.ts'
import { formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { expandNames } from '../names.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost, wholeNumber } from '../operands.ts'
import { endingWords, lateWords, MARKS, stateColor } from '../outcome-words.ts'
import { cutTo, note, printJsonLine, STREAM_FLAGS } from '../output.ts'
import { redactRecord } from '../redact.ts'
import { counted } from '../steer/say.ts'
import { sanitize } from '../terminal.ts'
import { formatInstant, TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import { type Place, placeWords } from '../whereabouts.ts'
import type { Command } from './command.ts'

export const tail: Command = {
  operands: '[<schedule>…]',
  examples: [
    ['cronce tail', 'what the whole fleet does, as it happens'],
    ['cronce tail billing reports', 'only these schedules'],
    ["cronce tail 'report:*'", 'only schedules that begin with report:'],
    ['cronce tail --from now-10m --jsonl', 'starting ten minutes ago, for a program'],
  ],
  about: [
    'Reads the records of the store, so it is about a second late. Ctrl-C ends it.',
    'A pattern stands for the schedules that match it when the command starts.',
    '--from leaves out the end of a fire that was due more than a day before that time: see cronce runs.',
  ].join('\n'),
  flags: {
    job: { type: 'string', value: 'JOB', help: 'Only this job' },
    from: { type: 'string', value: 'TIME', help: 'Begin with what happened since then (default now)' },
    count: { type: 'string', short: 'n', value: 'N', help: 'End after N lines' },
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...STREAM_FLAGS,
  },
  run: runTail,
}

function runTail(args: Args, io: Io): Promise<number> {
  const given = atMost(args, 100, 'tail')
  const tz = zoneOf(args)
  const most = wholeNumber(args, 'count', { min: 1, max: 1_000_000, otherwise: Number.POSITIVE_INFINITY })
  const job = args.text('job')
  return withClient(args, io, async (client, io) => {
    const from = timeFlag(args, 'from', { tz, now: io.now })
    const wanted = new Set(await expandNames(client, given))
    for (const name of wanted) await client.schedules.get(name)
    const placeOf = placeFinder(client)
    const { signal } = io
    if (io.isTTY && !args.has('jsonl')) note('Waiting for what happens. Ctrl-C ends it.', io)
    let count = 0
    for await (const told of client.feed({ from, signal })) {
      const entry = redactRecord(told)
      if (entry.kind === 'gap') {
        note('Ends may be missing here: see cronce runs and cronce fires.', io)
        continue
      }
      if (!isWanted(entry, wanted, job)) continue
      const place = entry.kind === 'fire.ended' ? null : await placeOf(entry.run.instance)
      if (args.has('jsonl')) printJsonLine(withPlace(entry, place), io)
      else io.out(`${entryLine(entry, place, tz, io)}\n`)
      if (++count >= most) return EXIT.ok
    }
    return EXIT.interrupted
  })
}

type Told = Exclude<FeedEntry, { readonly kind: 'gap' }>

function isWanted(entry: Told, schedules: ReadonlySet<string>, job: string | undefined): boolean {
  const about = entry.kind === 'fire.ended' ? entry.fire : entry.run
  return (schedules.size === 0 || schedules.has(about.schedule)) && (job === undefined || about.job === job)
}

/** Most of what happens is on a few instances. */
const MOST_PLACES = 1_000

/** Asks for each instance once. */
function placeFinder(client: Client): (instance: string) => Promise<Place | null> {
  const known = new Map<string, Place | null>()
  return async (id) => {
    const cached = known.get(id)
    if (id === '' || cached !== undefined) return cached ?? null
    const instance = await client.instances.find(id)
    const place = instance === null ? null : { host: instance.host, pid: instance.pid }
    if (known.size >= MOST_PLACES) known.clear()
    known.set(id, place)
    return place
  }
}

function withPlace(entry: Told, place: Place | null): object {
  if (entry.kind === 'fire.ended') return entry
  return { ...entry, run: { ...entry.run, host: place?.host ?? null, pid: place?.pid ?? null } }
}

function entryLine(entry: Told, place: Place | null, tz: string, io: Io): string {
  const { paint } = io
  const time = paint('dim', formatInstant(entry.at, tz))
  const about = entry.kind === 'fire.ended' ? entry.fire : entry.run
  const state = entry.kind === 'run.started' ? 'running' : about.state
  const mark = paint(stateColor(state), MARKS[state])
  const name = paint('bold', sanitize(about.schedule))
  // What began when it was due needs no second time.
  const begunAt = entry.kind === 'fire.ended' ? entry.at : entry.run.startedAt
  const due =
    Math.abs(begunAt - about.dueAt) < 1_000 ? '' : `  ${paint('dim', `due ${formatInstant(about.dueAt, tz)}`)}`
  return `${time}  ${mark} ${name}  ${eventWords(entry, place, io)}${due}`
}

function eventWords(entry: Told, place: Place | null, io: Io): string {
  if (entry.kind === 'fire.ended') {
    const { fire } = entry
    const many = fire.range === null ? '' : `, ${counted(fire.range.count, 'instant')}`
    return `${io.paint(stateColor(fire.state), endingWords(fire))}${many}${because(fire.detail, io)}`
  }
  const { run } = entry
  const where = run.instance === '' ? '' : ` on ${sanitize(placeWords(run.instance, place))}`
  if (entry.kind === 'run.started') {
    const late = lateWords(run)
    return `started${run.attempt > 1 ? `, attempt ${run.attempt}` : ''}${where}${late}`
  }
  const took = run.durationMs === null ? '' : ` in ${formatDuration(run.durationMs)}`
  return `${io.paint(stateColor(run.state), endingWords(run))}${took}${where}${because(run.error?.message ?? run.detail, io)}`
}

/** On a terminal about as much as a line has room for. */
function because(detail: string | null, { columns }: Io): string {
  return detail === null ? '' : `: ${cutTo(sanitize(detail), columns === null ? 400 : Math.max(20, columns - 75))}`
}

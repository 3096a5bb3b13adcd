import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, RunView } from 'cronce'
import { CronceError } from 'cronce/cron'
import { isOfExec, shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { EXIT } from '../exit-code.ts'
import { FIRE_FLAGS, findFire, isToken } from '../find-fire.ts'
import type { Io } from '../io.ts'
import { logLine } from '../log-lines.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost, wholeNumber } from '../operands.ts'
import { endingWords } from '../outcome-words.ts'
import { note, printJsonLine, STREAM_FLAGS } from '../output.ts'
import { redactRecord } from '../redact.ts'
import { sanitize } from '../terminal.ts'
import { formatInstant, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

/** Between two looks: what a run logs reaches the store about once a second. */
const LOOK_MS = 1_000

export const logs: Command = {
  operands: '<schedule> [<token>|<due>|latest]',
  examples: [
    ['cronce logs billing', 'the log of the latest run'],
    ['cronce logs billing -f', 'follow the runs of the schedule until you press Ctrl-C'],
    ['cronce logs billing 17592186044417 -f', 'one run, until it has ended'],
  ],
  about: 'Prints what run.log() wrote and what commands printed. The name of the run goes to stderr.',
  flags: {
    follow: { type: 'boolean', short: 'f', help: 'Keep printing new lines' },
    lines: {
      type: 'string',
      short: 'n',
      value: 'N',
      help: 'Only the last lines of each run, 0 to 100,000 (default all)',
    },
    ...FIRE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...STREAM_FLAGS,
  },
  run: runLogs,
}

function runLogs(args: Args, io: Io): Promise<number> {
  const [schedule, which] = atMost(args, 2, 'logs')
  if (schedule === undefined) throw new UsageError('Which schedule?', 'Write cronce logs SCHEDULE [TOKEN|DUE] [-f].')
  const most = wholeNumber(args, 'lines', { min: 0, max: 100_000, otherwise: Number.MAX_SAFE_INTEGER })
  return withClient(args, io, async (client) => {
    const view = await client.schedules.find(schedule)
    const printer = printerOf(args, io, most, view !== null && isOfExec(view) ? NOT_KEPT : 'It said nothing.')
    if (!args.has('follow')) {
      printer.print(await demandRun(client, schedule, which, args, io))
      return EXIT.ok
    }
    // Read here: reading it installs signal handlers.
    const { signal } = io
    if (which === undefined) return followSchedule(client, schedule, printer, signal)
    let run = await demandRun(client, schedule, which, args, io)
    printer.print(run)
    while (run.endedAt === null) {
      if (await isOver(signal)) return EXIT.interrupted
      run = await client.runs.get(schedule, run.token)
      printer.print(run)
    }
    note(`The run has ended: ${endingWords(run)}.`, io)
    return EXIT.ok
  })
}

async function demandRun(
  client: Connection,
  schedule: string,
  which: string | undefined,
  args: Args,
  io: Io,
): Promise<RunView> {
  if (which !== undefined && isToken(which)) return client.runs.get(schedule, which)
  const latest = which === undefined || which === 'latest'
  // The latest fire may have been skipped: what is wanted is the latest run.
  const fire = latest ? undefined : await findFire(client, schedule, which, { args, io, tz: zoneOf(args) })
  const { items } = await client.runs.list({ schedule, fire, limit: 1 })
  if (items[0] !== undefined) return items[0]
  if (fire === undefined) await client.schedules.get(schedule)
  throw new CronceError('RUN_NOT_FOUND', `There is no run of ${JSON.stringify(schedule)} on record.`, {
    hint: `See its outcome: cronce fires ${shellWord(schedule)}`,
  })
}

/** The latest run, and all that come after it. */
async function followSchedule(
  client: Connection,
  schedule: string,
  printer: Printer,
  signal: AbortSignal,
): Promise<number> {
  await client.schedules.get(schedule)
  let followed: readonly RunView[] = (await client.runs.list({ schedule, limit: 1 })).items
  let since = followed[0]?.dueAt ?? 0
  do {
    for (const run of followed) printer.print(run)
    // A retry or a backfill runs a fire that was due earlier.
    const { items: open } = await client.runs.list({ schedule, outcome: 'open', limit: 100 })
    const { items: later } = await client.runs.list({ schedule, from: since, limit: 100 })
    const found = new Map([...open, ...later].map((run) => [run.token, run]))
    const ended = followed.filter(({ token, endedAt }) => endedAt === null && !found.has(token))
    const missing = await Promise.all(ended.map(({ token }) => client.runs.get(schedule, token)))
    followed = [...missing, ...found.values()].sort((one, other) => one.startedAt - other.startedAt)
    for (const run of followed) printer.print(run)
    since = Math.max(since, ...later.map(({ dueAt }) => dueAt))
  } while (!(await isOver(signal)))
  return EXIT.interrupted
}

async function isOver(signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(LOOK_MS, undefined, { signal })
    return false
  } catch {
    return true
  }
}

interface Printer {
  /** What is new of this run since it was printed last. */
  readonly print: (run: RunView) => void
}

/** Runs whose lines are remembered: more are never open at a time that people follow. */
const REMEMBERED = 1_000

/** `silence`: what to print for a run without a log. */
function printerOf(args: Args, io: Io, most: number, silence: string): Printer {
  const tz = zoneOf(args)
  /** How many lines of a run were printed, which are only ever added, and whether it was told that there are no more. */
  const printed = new Map<string, { readonly lines: number; readonly isCut: boolean }>()
  let current: string | null = null
  return {
    print(shown) {
      const run = redactRecord(shown)
      const before = printed.get(run.token)
      const lines = before === undefined ? lastOf(run.log, most) : run.log.slice(before.lines)
      printed.set(run.token, { lines: run.log.length, isCut: run.logCut })
      if (printed.size > REMEMBERED) printed.delete(printed.keys().next().value!)
      const { schedule, token, dueAt, attempt } = run
      if (args.has('jsonl')) {
        for (const line of lines) printJsonLine({ schedule, token, dueAt, attempt, ...line }, io)
        return
      }
      if (before === undefined || (lines.length > 0 && current !== token)) {
        const head = `${sanitize(schedule)} due ${formatInstant(dueAt, tz)}, attempt ${attempt}, token ${token}`
        io.err(`${io.paintErr('dim', `── ${head}`)}\n`)
        current = token
      }
      for (const line of lines) io.out(`${logLine(line, tz, io.paint)}\n`)
      if (run.logCut && before?.isCut !== true)
        note('The log is cut here: what the run said after that was not kept.', io)
      if (before === undefined && isSilent(run)) io.err(`${silence}\n`)
    },
  }
}

const NOT_KEPT = 'cronce exec leaves the output to its caller: none is kept.'

function lastOf<Line>(log: readonly Line[], most: number): readonly Line[] {
  return most === 0 ? [] : log.slice(-most)
}

function isSilent({ endedAt, log }: RunView): boolean {
  return endedAt !== null && log.length === 0
}

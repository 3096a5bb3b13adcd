import type { Connection, FireView, RunView, StepView } from 'cronce'
import { needsInstance } from 'cronce/internal'
import type { Args } from '../args.ts'
import { FIRE_FLAGS, findFire, isToken } from '../find-fire.ts'
import { formatDuration } from '../format.ts'
import type { Io } from '../io.ts'
import { Labelled } from '../labelled.ts'
import { logLine } from '../log-lines.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost, wholeNumber } from '../operands.ts'
import { endingWords, lateWords, stateColor } from '../outcome-words.ts'
import { cutTo, printJson } from '../output.ts'
import { redactRecord } from '../redact.ts'
import { frozenWords } from '../retired-words.ts'
import { warnUnrunnable } from '../steer/runners.ts'
import { counted } from '../steer/say.ts'
import { sanitize } from '../terminal.ts'
import { formatInstant, relativeWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import { BAR_WORDS, waterfall } from '../waterfall.ts'
import type { Command } from './command.ts'

export const show: Command = {
  operands: '<schedule> [<token>|<due>|latest]',
  examples: [
    ['cronce show billing', 'the latest fire: its attempts, what they did, and how it ended'],
    ['cronce show billing 17592186044417', 'the fire of the run with this token'],
    ['cronce show billing 2027-01-01T03:00Z', 'the fire that was due then'],
    ['cronce show billing latest --lines 1000', 'with all of its log'],
  ],
  about: `The bars are to scale: ${BAR_WORDS}.`,
  flags: {
    lines: { type: 'string', value: 'N', help: 'Number of log lines from the end, 0 to 100,000 (default 20)' },
    ...FIRE_FLAGS,
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runShow,
}

interface Shown {
  readonly fire: FireView
  /** The earliest first. */
  readonly runs: readonly RunView[]
  readonly steps: readonly StepView[]
  /** The run that was asked for, or the last one. */
  readonly run: RunView | null
}

function runShow(args: Args, io: Io): Promise<number> {
  const [schedule, which] = atMost(args, 2, 'show')
  if (schedule === undefined) throw new UsageError('Which schedule?', 'Write cronce show SCHEDULE [TOKEN|DUE].')
  const lines = wholeNumber(args, 'lines', { min: 0, max: 100_000, otherwise: 20 })
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const fire = await findFire(client, schedule, which, { args, io, tz })
    const shown = redactRecord(await readShown(client, fire, which))
    if (args.has('json')) printJson({ fire: shown.fire, runs: shown.runs, steps: shown.steps }, io)
    else
      print(
        shown,
        {
          tz,
          lines,
          waits: await whyItWaits(client, shown, (at) => `${formatInstant(at, tz)} (${relativeWords(at, io.now)})`),
        },
        io,
      )
    return 0
  })
}

async function readShown(client: Connection, fire: FireView, which: string | undefined): Promise<Shown> {
  const runs: RunView[] = []
  for await (const run of client.runs.all({ fire })) runs.push(run)
  runs.reverse()
  const run = which !== undefined && isToken(which) ? runs.find(({ token }) => token === which) : runs.at(-1)
  const steps = fire.range === null ? await client.steps.list(fire) : []
  return { fire, runs, steps, run: run ?? null }
}

/** What an open fire without a run waits for, if that is an instance; of a retired schedule, when it ends. */
async function whyItWaits(
  client: Connection,
  { fire, runs }: Shown,
  when: (instant: number) => string,
): Promise<string | null> {
  if (fire.state !== 'open' || runs.some(({ endedAt }) => endedAt === null)) return null
  const schedule = await client.schedules.find(fire.schedule)
  if (schedule === null) return null
  return frozenWords(schedule, when) ?? (needsInstance(schedule) ? warnUnrunnable(schedule, client) : null)
}

interface ShowOptions {
  readonly tz: string
  readonly lines: number
  readonly waits: string | null
}

function print({ fire, runs, steps, run }: Shown, { tz, lines, waits }: ShowOptions, io: Io): void {
  const text = new Labelled(io, 12)
  printFire(fire, text, tz, io)
  text.row('waits', waits)
  if (runs.length > 0) {
    text.line('')
    for (const line of waterfall(fire, runs, { now: io.now, width: io.columns ?? 100, paint: io.paint }))
      text.line(line)
    text.line(io.paint('dim', BAR_WORDS))
    text.heading(runs.length === 1 ? 'Run' : 'Runs')
    for (const one of runs) text.lines(`attempt ${one.attempt}`, runLines(one, tz, io))
  }
  if (steps.length > 0) {
    text.heading('Steps')
    for (const step of steps) text.row(step.state, stepWords(step))
  }
  if (run !== null) printRun(run, { text, tz, lines }, io)
  text.print()
}

function printFire(fire: FireView, text: Labelled, tz: string, io: Io): void {
  const when = (instant: number): string =>
    `${formatInstant(instant, tz, 'millisecond')} (${relativeWords(instant, io.now)})`
  text.line(`${io.paint('bold', sanitize(fire.schedule))}  ${io.paint(stateColor(fire.state), endingWords(fire))}`)
  text.row('due', when(fire.dueAt))
  if (fire.range !== null) {
    text.row('until', `${when(fire.range.untilAt)}: ${counted(fire.range.count, 'instant')} that ended alike`)
  }
  text.row(
    'what',
    `${fire.kind}${fire.nonce === '' ? '' : `, key ${fire.nonce}`}, job ${fire.job}${fire.round > 1 ? `, round ${fire.round}` : ''}`,
  )
  if (fire.asked !== null) text.row('asked', askedWords(fire.asked))
  text.row('planned', when(fire.plannedAt))
  if (fire.endedAt !== null) text.row('ended', when(fire.endedAt))
  text.row('why', fire.detail)
  if (fire.input !== null) text.row('input', cutTo(JSON.stringify(fire.input), 1_000))
  if (fire.expiresAt !== null) text.row('kept until', when(fire.expiresAt))
}

function askedWords({ author, note }: NonNullable<FireView['asked']>): string {
  return [author === null ? null : `by ${author}`, note].filter((part) => part !== null).join(': ')
}

function runLines(run: RunView, tz: string, io: Io): string[] {
  const took = run.durationMs === null ? '' : ` in ${formatDuration(run.durationMs)}`
  const late = lateWords(run)
  const where = run.instance === '' ? 'parked' : `on ${sanitize(run.instance)}`
  const head = `${formatInstant(run.startedAt, tz, 'millisecond')}  ${io.paint(stateColor(run.state), endingWords(run))}${took}${late}`
  const lines = [`${head}  ${io.paint('dim', `${where}, token ${run.token}`)}`]
  if (run.detail !== null) lines.push(cutTo(sanitize(run.detail), 200))
  if (run.cancel !== null) {
    lines.push(
      `asked to end: ${run.cancel.reason}${run.cancel.detail === null ? '' : `, ${cutTo(sanitize(run.cancel.detail), 160)}`}`,
    )
  }
  return lines
}

function stepWords({ step, begunAt, endedAt, result, state }: StepView): string {
  const took = endedAt === null ? 'its end is unknown, unless its run is still open' : formatDuration(endedAt - begunAt)
  const answer = state === 'done' && result !== null ? ` → ${cutTo(JSON.stringify(result), 100)}` : ''
  return `${step} (${took})${answer}`
}

function printRun(run: RunView, { text, tz, lines }: { text: Labelled; tz: string; lines: number }, io: Io): void {
  const { error, result, progress } = run
  if (progress !== null && run.endedAt === null) {
    text.heading('Progress')
    text.line(
      `${Math.round(progress.fraction * 100)}%${progress.message === null ? '' : `  ${sanitize(progress.message)}`}`,
    )
  }
  if (error !== null) {
    text.heading('Error')
    const stack = error.stack ?? `${error.name}: ${error.message}`
    for (const line of stack.split('\n')) text.line(sanitize(line))
  }
  if (result !== null) {
    text.heading('Result')
    text.line(cutTo(sanitize(JSON.stringify(result)), 2_000))
  }
  printLog(run, { text, tz, lines }, io)
}

function printLog(run: RunView, { text, tz, lines }: { text: Labelled; tz: string; lines: number }, io: Io): void {
  const { log, logCut } = run
  if (log.length === 0 || lines === 0) return
  const shown = log.slice(-lines)
  const more = log.length - shown.length
  const notes = [more > 0 ? `${counted(more, 'line')} before` : '', logCut ? 'not all was kept' : ''].filter(Boolean)
  text.heading(`Log of attempt ${run.attempt}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`)
  for (const line of shown) text.line(logLine(line, tz, io.paint))
}

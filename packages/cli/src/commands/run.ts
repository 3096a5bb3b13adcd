import type { FireView, Json, RunView, ScheduleView } from 'cronce'
import { shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { confirm, operatorOf } from '../confirm.ts'
import { readDurationText } from '../duration-text.ts'
import { EXIT } from '../exit-code.ts'
import { formatDuration, formatUtc } from '../format.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { oneOperand } from '../operands.ts'
import { endingWords } from '../outcome-words.ts'
import { note, printJson, warn } from '../output.ts'
import { steerFlags } from '../steer/flags.ts'
import { followFire } from '../steer/follow-fire.ts'
import { readJson } from '../steer/read-json.ts'
import { warnUnrunnable } from '../steer/runners.ts'
import { counted, say } from '../steer/say.ts'
import { sanitize } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const run: Command = {
  operands: '<schedule>',
  examples: [
    ['cronce run nightly-report', 'run it now'],
    ['cronce run nightly-report --wait', 'run it and follow it; exit code 20 if it does not succeed'],
    ['cronce run import --input \'{"full":true}\' --dedupe ticket-17', 'with this input, once for this key'],
    ['cronce run import --input @input.json --wait --timeout 10m', 'follow it for ten minutes at most'],
  ],
  about: [
    'Works on paused schedules, too. An instance runs the fire; without --wait this command only requests it.',
    'With --wait, what the run logs goes to stderr, and its result to stdout. Ctrl-C stops the waiting, not the run.',
  ].join('\n'),
  flags: {
    input: { type: 'string', value: 'JSON', help: "Input instead of the schedule's; @FILE, or @- for stdin" },
    dedupe: { type: 'string', value: 'KEY', help: 'Idempotency key: repeated requests with it make one fire' },
    'ignore-overlap': { type: 'boolean', help: 'Start it even if another run of the schedule is active' },
    wait: { type: 'boolean', short: 'w', help: 'Wait until it ends; exit code 20 if it does not succeed' },
    timeout: { type: 'string', value: 'TIME', help: 'Longest time to wait, such as 90s or 10m (default: forever)' },
    ...steerFlags('the fire'),
  },
  run: runRun,
}

async function runRun(args: Args, io: Io): Promise<number> {
  const name = oneOperand(args, 'run', 'schedule')
  const isWaiting = args.has('wait')
  const timeout = args.text('timeout')
  if (timeout !== undefined && !isWaiting)
    throw new UsageError('--timeout is of --wait.', 'Add --wait, or leave it out.')
  const timeoutMs = timeout === undefined ? null : readDurationText(timeout, 'timeout')
  const given = args.text('input')
  const input = given === undefined ? undefined : await readJson(given, '--input', io)
  const dedupe = args.text('dedupe')
  const overlap = args.has('ignore-overlap') ? 'ignore' : 'honour'
  return withClient(args, io, async (client) => {
    const view = await client.schedules.get(name)
    const unrunnable = await warnUnrunnable(view, client)
    const lines = planWords(view, { input, dedupe, overlap, unrunnable })
    if (!(await confirm({ lines, json: { schedule: name, job: view.job, input, dedupe, overlap } }, args, io)))
      return EXIT.ok
    const { fire, created } = await client.schedules.trigger(name, { input, dedupe, overlap, ...operatorOf(args, io) })
    if (!created)
      note(`The key ${dedupe} is on record: this is the fire that it stands for, and no other was made.`, io)
    if (!isWaiting) return tell(view, fire, created, unrunnable, args, io)
    if (unrunnable !== null && fire.state === 'open') warn(unrunnable, io)
    const followed = await followFire(client, fire, { timeoutMs, knewUnrunnable: unrunnable !== null }, io)
    return conclude(followed, created, args, io)
  })
}

function tell(
  view: ScheduleView,
  fire: FireView,
  created: boolean,
  unrunnable: string | null,
  args: Args,
  io: Io,
): number {
  const { state, dueAt, detail } = fire
  if (args.has('json')) printJson({ created, fire, runnable: unrunnable === null }, io)
  else if (state === 'open') {
    say(`${view.name} is to be run now. See cronce show ${shellWord(view.name)} ${formatUtc(dueAt)}`, io)
  } else {
    say(`${view.name} was not run now: ${endingWords(fire)}${detail === null ? '' : `, ${detail}`}.`, io)
  }
  if (unrunnable !== null && state === 'open') warn(unrunnable, io)
  // On record, and not to be run: what was asked for is refused by the schedule's own rules.
  return created && state !== 'open' ? EXIT.refused : EXIT.ok
}

function conclude(
  { fire, run: last }: { readonly fire: FireView; readonly run: RunView | null },
  created: boolean,
  args: Args,
  io: Io,
): number {
  if (args.has('json')) printJson({ created, fire, run: last }, io)
  else {
    const took = last?.durationMs == null ? '' : ` after ${formatDuration(last.durationMs)}`
    const tries = fire.attempt > 1 ? `, in ${counted(fire.attempt, 'run')}` : ''
    const why = fire.detail === null ? '' : `: ${fire.detail}`
    io.err(
      `${io.paintErr(fire.state === 'succeeded' ? 'green' : 'red', endingWords(fire))}${sanitize(`${took}${tries}${why}`)}\n`,
    )
    if (last !== null && last.result !== null) say(JSON.stringify(last.result), io)
  }
  return fire.state === 'succeeded' ? EXIT.ok : EXIT.runFailed
}

interface Wish {
  readonly input: Json | undefined
  readonly dedupe: string | undefined
  readonly overlap: 'honour' | 'ignore'
  readonly unrunnable: string | null
}

function planWords(
  { name, job, state, open, policy }: ScheduleView,
  { input, dedupe, overlap, unrunnable }: Wish,
): string[] {
  const active = open.filter(({ state: fire, attempt }) => fire !== 'waiting' || attempt > 0).length
  const with_ = input === undefined ? '' : `, with input ${cutJson(input)}`
  return [
    `Run ${name} now, once, besides its instants: job "${job}"${with_}.`,
    ...(dedupe === undefined ? [] : [`Only if no fire has the key ${dedupe}.`]),
    ...(state === 'paused' ? ['The schedule is paused; this fire is run all the same.'] : []),
    ...(active === 0 || overlap === 'ignore'
      ? []
      : [
          `${counted(active, 'fire')} of it ${active === 1 ? 'is' : 'are'} active: ${OVERLAP_WORDS[policy.overlap.kind]}.`,
        ]),
    ...(unrunnable === null ? [] : [unrunnable]),
  ]
}

const OVERLAP_WORDS = {
  skip: 'by its overlap policy this one is skipped, unless with --ignore-overlap',
  queue: 'by its overlap policy this one waits, or is skipped if one waits already',
  'queue-all': 'by its overlap policy this one waits its turn',
  allow: 'by its overlap policy they run at a time, up to its limit',
  replace: 'by its overlap policy they are cancelled, and this one takes their place',
} as const satisfies Record<ScheduleView['policy']['overlap']['kind'], string>

function cutJson(input: Json): string {
  const text = JSON.stringify(input)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

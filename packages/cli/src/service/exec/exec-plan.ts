import { at, cron, type Trigger } from 'cronce/cron'
import type { Args, Flags } from '../../args.ts'
import { readDurationText } from '../../duration-text.ts'
import { localZone } from '../../local-zone.ts'
import { STORE_FLAGS } from '../../open-store.ts'
import { wholeNumber } from '../../operands.ts'
import { UsageError } from '../../usage-error.ts'
import { zonePrefixOf } from '../../zone-prefix.ts'

export const EXEC_FLAGS = {
  name: {
    type: 'string',
    value: 'NAME',
    help: 'Name of the job: calls with the same name on the same store share its fires',
  },
  due: {
    type: 'string',
    value: 'TIME',
    help: 'The instant that is due, such as 2027-03-28T01:00Z; or auto (default): the one of --cron that is nearest',
  },
  cron: { type: 'string', value: 'EXPR', help: 'With --due auto: when it is due, as in the crontab' },
  expect: {
    type: 'string',
    value: 'EXPR',
    help: 'With a time in --due: the rule of the calls, for NEXT in list and for doctor (--cron is kept by itself)',
  },
  tz: {
    type: 'string',
    value: 'ZONE',
    help: 'The zone of --cron and --expect (default: CRON_TZ, or the zone of this machine, as for cron itself)',
  },
  tolerance: {
    type: 'string',
    value: 'TIME',
    help: 'With --due auto: longest distance to the nearest instant (default 60s)',
  },
  wait: { type: 'boolean', help: 'Stand by while another host runs it, and take over if that host dies' },
  timeout: { type: 'string', value: 'TIME', help: 'End the command after this time (default: never)' },
  grace: {
    type: 'string',
    value: 'TIME',
    help: 'Time to end by itself before it is killed (default 10s)',
  },
  retry: { type: 'string', value: 'N', help: 'Number of further attempts if it fails (default 0)' },
  guarantee: {
    type: 'string',
    value: 'KIND',
    choices: ['at-least-once', 'at-most-once'],
    help: 'What happens if its host dies: at-least-once (default) runs it again, at-most-once never starts it twice',
  },
  overlap: {
    type: 'string',
    value: 'KIND',
    choices: ['skip', 'queue', 'allow'],
    help: 'What to do while an earlier fire has not ended: skip (default), queue, allow',
  },
  lease: { type: 'string', value: 'TIME', help: 'Silence after which other hosts take over (default 15s)' },
  ...STORE_FLAGS,
  quiet: { type: 'boolean', help: 'Print nothing about fires that other hosts run' },
  verbose: { type: 'boolean', help: 'Print warnings of the library, too' },
} as const satisfies Flags

/** What is to be run, and when it is due, as asked for. */
export interface ExecPlan {
  readonly name: string
  readonly command: readonly [file: string, ...args: string[]]
  /** `null`: to be found out. */
  readonly due: number | null
  /** Instants to choose from, of an expression in this zone. */
  readonly trigger: Trigger | null
  /** The rule that the calls follow, as far as it was told. */
  readonly expected: Trigger | null
  readonly zone: string | null
  readonly toleranceMs: number
  readonly wait: boolean
  readonly graceMs: number
  readonly lease: number | undefined
  /** Options of the job. */
  readonly policy: Readonly<Record<string, unknown>>
}

type ExecEnvironment = Readonly<Record<string, string | undefined>>

const AUTO = 'auto'
/** The job's app has a longer name. */
const LONGEST_NAME = 190

export function readPlan(args: Args, env: ExecEnvironment): ExecPlan {
  const [file, ...rest] = args.rest ?? []
  const [stray] = args.positionals
  if (file !== undefined && stray !== undefined && args.positionals.length > rest.length + 1) {
    const hint = `Write the command behind two dashes, and the name as --name ${stray}.`
    throw new UsageError(`${JSON.stringify(stray)} is not a flag, and stands before the two dashes.`, hint)
  }
  if (file === undefined) {
    throw new UsageError(
      'Which command?',
      'Write it behind two dashes: cronce exec --name backup --cron "0 3 * * *" -- pg_dump app',
    )
  }
  const graceMs = duration(args, 'grace') ?? 10_000
  const timeoutMs = duration(args, 'timeout')
  const due = args.text('due') ?? AUTO
  const { trigger, expected, zone } = readTrigger(args, due === AUTO, env)
  return {
    name: readName(args.text('name')),
    command: [file, ...rest],
    due: due === AUTO ? null : readDue(due),
    trigger,
    expected,
    zone,
    toleranceMs: duration(args, 'tolerance') ?? 60_000,
    wait: args.has('wait'),
    graceMs,
    lease: duration(args, 'lease'),
    policy: {
      guarantee: args.text('guarantee') ?? 'at-least-once',
      overlap: args.text('overlap') ?? 'skip',
      retry: wholeNumber(args, 'retry', { min: 0, max: 1_000, otherwise: 0 }),
      timeout: { ...(timeoutMs === undefined ? {} : { run: timeoutMs }), grace: graceMs },
    },
  }
}

function readName(name: string | undefined): string {
  if (name === undefined || name === '') {
    throw new UsageError('Which name?', 'Add --name: all hosts that share the work name the same.')
  }
  if (name.length <= LONGEST_NAME) return name
  throw new UsageError(`--name has ${name.length} characters.`, `Use up to ${LONGEST_NAME}.`)
}

function readDue(text: string): number {
  try {
    return at(/^\d{11,15}$/.test(text) ? Number(text) : text).at
  } catch {
    throw new UsageError(`--due cannot be "${text}".`, 'Write auto, 2027-03-28T01:00Z, or epoch milliseconds.')
  }
}

type ReadTrigger = Pick<ExecPlan, 'trigger' | 'expected' | 'zone'>

function readTrigger(args: Args, isAuto: boolean, env: ExecEnvironment): ReadTrigger {
  const chosen = args.text('cron')
  const expression = chosen ?? args.text('expect')
  const tz = args.text('tz')
  if (chosen !== undefined && args.has('expect')) {
    throw new UsageError('--cron is expected by itself.', 'Leave out --expect.')
  }
  if (expression === undefined && tz !== undefined) throw new UsageError('--tz is the zone of --cron.', 'Add --cron.')
  if (expression === undefined) return { trigger: null, expected: null, zone: null }
  if (chosen !== undefined && !isAuto) {
    throw new UsageError(
      '--cron is for --due auto.',
      'Leave out the time in --due, or write --expect instead of --cron.',
    )
  }
  const zone = zonePrefixOf(expression)?.tz ?? readZone(tz, env)
  const expected = cron(expression, { tz: zone, seed: args.text('name') ?? '' })
  return { trigger: chosen === undefined ? null : expected, expected, zone }
}

/** The line is read by cron and by us: both have to mean the same moment. */
function readZone(tz: string | undefined, env: ExecEnvironment): string {
  const { CRON_TZ: named } = env
  if (tz === undefined && named) return named
  return tz === undefined || tz === 'local' ? localZone(env) : tz
}

function duration(args: Args, flag: string): number | undefined {
  const text = args.text(flag)
  return text === undefined ? undefined : readDurationText(text, flag)
}

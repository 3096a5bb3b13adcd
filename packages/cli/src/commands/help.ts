import type { Flag, Flags } from '../args.ts'
import { type Paint, wrap } from '../terminal.ts'
import { type Command, type Entry, GROUPS } from './command.ts'

/** Flags that every command has. */
export const COMMON_FLAGS = {
  'no-color': { type: 'boolean', help: 'No colours; NO_COLOR and FORCE_COLOR are respected, too' },
  help: { type: 'boolean', short: 'h', help: 'This text' },
} as const satisfies Flags

const EXAMPLES = [
  'cronce next "*/15 9-17 * * MON-FRI"',
  'cronce explain "0 0 13 * FRI" --tz Europe/London',
  'cronce start jobs.ts --store sqlite:cronce.db',
  'cronce list --store postgres://app@db/app',
  'cronce run nightly-report --wait',
]

export function overview(commands: readonly Entry[], paint: Paint): string {
  const visible = commands.filter(({ hidden }) => !hidden)
  const width = Math.max(...visible.map(({ name }) => name.length))
  const groups = Object.entries(GROUPS).map(([group, title]) => ({
    title,
    entries: visible.filter((entry) => entry.group === group),
  }))
  const known = EXAMPLES.filter((example) => visible.some(({ name }) => example.startsWith(`cronce ${name} `)))
  return [
    'cronce: cron jobs that run once, however many processes there are.',
    '',
    paint('bold', 'Examples'),
    ...known.map((example) => `  ${example}`),
    '',
    ...groups
      .filter(({ entries }) => entries.length > 0)
      .flatMap(({ title, entries }) => [
        paint('bold', title),
        ...entries.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
        '',
      ]),
    paint('bold', 'Flags'),
    '  cronce <command> --help   The flags of a command',
    '  cronce --version          The version',
    '',
  ].join('\n')
}

export function commandHelp({ name, summary, aliases = [] }: Entry, command: Command, paint: Paint): string {
  const { operands, examples, about } = command
  const flags: Flags = { ...command.flags, ...COMMON_FLAGS }
  const heads = Object.entries(flags).map(([flag, spec]) => flagHead(flag, spec))
  const width = Math.max(...heads.map((head) => head.length))
  const exampleWidth = Math.max(...examples.map(([example]) => example.length))
  return [
    `${summary}.`,
    '',
    paint('bold', 'Examples'),
    ...examples.map(([example, does]) => `  ${example.padEnd(exampleWidth)}  ${paint('dim', does)}`.trimEnd()),
    '',
    paint('bold', 'Usage'),
    `  cronce ${[name, operands].filter(Boolean).join(' ')} [flags]`,
    ...aliases.map((alias) => `  cronce ${alias} is the same`),
    '',
    paint('bold', 'Flags'),
    ...Object.values(flags).map(
      (spec, i) => `  ${heads[i]!.padEnd(width)}  ${wrap(spec.help, 100, ' '.repeat(width + 4))}`,
    ),
    ...(about === undefined ? [] : ['', about]),
    '',
  ].join('\n')
}

function flagHead(name: string, { short, value }: Flag): string {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`
  return value === undefined ? names : `${names} ${value}`
}

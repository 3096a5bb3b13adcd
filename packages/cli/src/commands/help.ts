import type { Flag, Flags } from '../args.ts'
import { type Paint, wrap } from '../terminal.ts'
import type { Command } from './command.ts'

/** Flags that every command has. */
export const COMMON_FLAGS = {
  'no-color': { type: 'boolean', help: 'No colours; NO_COLOR and FORCE_COLOR are respected, too' },
  help: { type: 'boolean', short: 'h', help: 'This text' },
} as const satisfies Flags

export function overview(commands: readonly Command[], paint: Paint): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    'cronce: when does it fire, and why?',
    '',
    paint('bold', 'Examples'),
    ...commands.flatMap(({ examples }) => examples.slice(0, 2)).map(([command]) => `  ${command}`),
    '',
    paint('bold', 'Commands'),
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    paint('bold', 'Flags'),
    '  cronce <command> --help   The flags of a command',
    '  cronce --version          The version',
    '',
  ].join('\n')
}

export function commandHelp(command: Command, paint: Paint): string {
  const { name, operands, summary, examples, about } = command
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
    `  cronce ${name} ${operands} [flags]`,
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

import { resolve } from 'node:path'
import { asCode } from '../../client/as-code.ts'
import { invalid, isRecord, optionConflict, optionInvalid, readFields, readInteger } from '../../client/read-option.ts'

/** A command as the target of a job. */
export interface CommandOptions {
  /** The program and its arguments; as one text, the program alone, or with `shell` what that shall run. */
  readonly command: readonly string[] | string
  /** Whether a shell reads the command: `/bin/sh`, or this one. @default false */
  readonly shell?: boolean | string | undefined
  /** Where it runs. @default the scheduler's working directory */
  readonly cwd?: string | undefined
  /** Besides the scheduler's own environment; `null` takes a name out of it. */
  readonly env?: Readonly<Record<string, string | null | undefined>> | undefined
  /** What it can read: the fire's input as JSON, a text, or nothing. @default 'ignore' */
  readonly stdin?: 'ignore' | 'input' | { readonly text: string } | undefined
  /** Exit codes that count as success. @default [0] */
  readonly successCodes?: readonly number[] | undefined
}

export interface ResolvedCommand {
  readonly file: string
  readonly args: readonly string[]
  /** What people call it. */
  readonly name: string
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | null>>
  readonly stdin: 'ignore' | 'input' | { readonly text: string }
  readonly successCodes: readonly number[]
}

export const COMMAND_NAMES = [
  'command',
  'shell',
  'cwd',
  'env',
  'stdin',
  'successCodes',
] as const satisfies readonly (keyof CommandOptions)[]

const SAMPLE = "['pg_dump', '-Fc', 'app']"

export function resolveCommand(options: unknown): ResolvedCommand {
  const given = readFields('', options, COMMAND_NAMES, `{ command: ${SAMPLE} }`)
  return Object.freeze({
    ...readProgram(given.command, given.shell),
    cwd: given.cwd === undefined ? undefined : resolve(readWord('cwd', given.cwd, "'/var/backups'")),
    env: readEnv(given.env ?? {}),
    stdin: readStdin(given.stdin ?? 'ignore'),
    successCodes: readCodes(given.successCodes ?? [0]),
  })
}

function readProgram(command: unknown, shell: unknown): Pick<ResolvedCommand, 'file' | 'args' | 'name'> {
  const isShell = shell !== undefined && shell !== false
  if (Array.isArray(command)) {
    if (isShell) throw optionConflict('A shell takes the command as one text.', "Write command: 'a | b', shell: true.")
    const [file, ...args] = command.map((word, at) => readWord('command', word, SAMPLE, at > 0))
    if (file === undefined) throw invalid('command', command, 'a program and its arguments', SAMPLE)
    return { file, args, name: file }
  }
  const text = readWord('command', command, SAMPLE)
  if (!isShell) {
    if (!/\s/.test(text)) return { file: text, args: [], name: text }
    const hint = `Write command: ${asCode(text)}, shell: true; or command: ${SAMPLE}.`
    throw optionInvalid('command', text, 'an array of the program and its arguments, or shell: true beside it', hint)
  }
  const name = text.length > 60 ? `${text.slice(0, 60)}…` : text
  if (process.platform === 'win32' && shell === true) {
    const { ComSpec = 'cmd.exe' } = process.env
    return { file: ComSpec, args: ['/d', '/s', '/c', text], name }
  }
  const file = shell === true ? '/bin/sh' : readWord('shell', shell, "'/bin/bash'")
  return { file, args: ['-c', text], name }
}

function readWord(path: string, value: unknown, sample: string, mayBeEmpty = false): string {
  if (typeof value === 'string' && !value.includes('\0') && (mayBeEmpty || value !== '')) return value
  throw invalid(path, value, 'texts that are not empty, without NUL characters', sample)
}

function readEnv(value: unknown): Record<string, string | null> {
  const expected = 'an object of names and texts'
  const sample = "{ PGPASSFILE: '/run/secrets/pgpass' }"
  if (!isRecord(value)) throw invalid('env', value, expected, sample)
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => {
      if (name === '' || /[=\0]/.test(name)) throw invalid('env', name, `${expected}, no name with = in it`, sample)
      return [name, text === null || text === undefined ? null : readWord(`env.${name}`, text, "'…'", true)]
    }),
  )
}

function readStdin(value: unknown): ResolvedCommand['stdin'] {
  if (value === 'ignore' || value === 'input') return value
  if (!isRecord(value)) throw invalid('stdin', value, "'input', 'ignore' or { text }", "'input'")
  const { text } = readFields('stdin', value, ['text'], "{ text: '…' }")
  if (typeof text !== 'string') throw invalid('stdin.text', text, 'a text', "'…'")
  return { text }
}

function readCodes(value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid('successCodes', value, 'an array of exit codes', '[0, 3]')
  }
  return value.map((code) => readInteger('successCodes', code, { min: 0, max: 255 }))
}

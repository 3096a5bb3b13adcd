import { parseArgs } from 'node:util'
import { suggestion, UsageError } from './usage-error.ts'

export interface Flag {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** What stands for the value in the help, such as `ZONE`. */
  readonly value?: string
  readonly choices?: readonly string[]
  /** Several of the choices may be given, separated by commas. */
  readonly list?: boolean
  /** It may be given several times; `texts` has all of them. */
  readonly repeat?: boolean
  readonly help: string
}

export type Flags = Readonly<Record<string, Flag>>

export interface Args {
  readonly text: (flag: string) => string | undefined
  /** Of a flag that may be repeated, in the order given. */
  readonly texts: (flag: string) => readonly string[]
  readonly has: (flag: string) => boolean
  /** All that is not a flag, also what comes after `--`. */
  readonly positionals: readonly string[]
  /** What comes after `--`, untouched. `null`: there is no `--`. */
  readonly rest: readonly string[] | null
}

/** Read the arguments of one command. `parseArgs` only cuts them up: its own complaints do not say what to do. */
export function readArgs(argv: readonly string[], flags: Flags): Args {
  const { tokens } = parseArgs({ args: [...argv], options: parseArgsOptions(flags), strict: false, tokens: true })
  const values = new Map<string, readonly (string | true)[]>()
  const positionals: string[] = []
  let rest: string[] | null = null

  for (const token of tokens) {
    if (token.kind === 'option-terminator') rest = []
    if (token.kind === 'positional') {
      positionals.push(token.value)
      rest?.push(token.value)
    }
    if (token.kind !== 'option') continue
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
    if (flag === undefined) throw unknownFlag(token.rawName, flags)
    const before = values.get(token.name) ?? []
    if (before.length > 0 && !flag.repeat) throw new UsageError(`${token.rawName} is given twice.`, 'Leave out one.')
    values.set(token.name, [...before, readValue(token.rawName, flag, token.value)])
  }

  const texts = (name: string): string[] => (values.get(name) ?? []).filter((value) => value !== true)
  return { text: (name) => texts(name).at(-1), texts, has: (name) => values.has(name), positionals, rest }
}

function parseArgsOptions(flags: Flags): Record<string, { type: 'string' | 'boolean'; short?: string }> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, { type, short }]) => [name, short ? { type, short } : { type }]),
  )
}

function readValue(rawName: string, flag: Flag, value: string | undefined): string | true {
  if (flag.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`, `Write ${rawName} alone.`)
    return true
  }
  // With `-n=5` the parser hands over `=5`.
  const text = rawName.startsWith('--') ? value : value?.replace(/^=/, '')
  if (text === undefined)
    throw new UsageError(`${rawName} needs a value.`, `Write ${rawName} ${flag.value ?? 'VALUE'}.`)
  if (/^--(cron|expect)$/.test(rawName) && /^[\d*/,-]+$/.test(text)) throw unquoted(rawName, text)
  const wrong = (flag.list ? text.split(',') : [text]).find((word) => flag.choices && !flag.choices.includes(word))
  if (flag.choices && wrong !== undefined) throw notAChoice(rawName, wrong, flag.choices)
  return text
}

/** The shell has taken the expression apart, and perhaps put file names in the place of each star. */
function unquoted(rawName: string, text: string): UsageError {
  return new UsageError(
    `${rawName} is only "${text}", one field of an expression.`,
    `Put the expression in quotes: ${rawName} "0 3 * * *".`,
  )
}

function notAChoice(rawName: string, text: string, choices: readonly string[]): UsageError {
  return new UsageError(
    `${rawName} cannot be "${text}".${suggestion(text, choices)}`,
    `Choose one of: ${choices.join(', ')}.`,
  )
}

function unknownFlag(rawName: string, flags: Flags): UsageError {
  // An expression such as "-5 * * * *" arrives here as the flag `-5`.
  if (/^-\d/.test(rawName)) {
    return new UsageError(`${rawName} looks like a flag.`, 'Numbers in an expression have no sign.')
  }
  const names = Object.keys(flags).map((name) => `--${name}`)
  const meant = flagMeant(rawName, names)
  return new UsageError(`Unknown flag ${rawName}.${meant}`, flagsHint(rawName, names, meant !== ''))
}

function flagsHint(rawName: string, names: readonly string[], isMeantKnown: boolean): string {
  if (!isMeantKnown && ['schedule', 'name', 'id'].includes(rawName.slice(2)))
    return 'A schedule is named without a flag, behind the command: cronce fires billing'
  return isMeantKnown || names.length > MOST_FLAGS
    ? 'See --help for all flags.'
    : `This command takes ${names.join(', ')}.`
}

/** More flags than a reader takes in from one line. */
const MOST_FLAGS = 8

function flagMeant(rawName: string, names: readonly string[]): string {
  const others = Object.hasOwn(OTHER_WORDS, rawName) ? OTHER_WORDS[rawName]!.split(' ') : null
  const other = others?.find((name) => names.includes(name))
  if (other !== undefined) return ` Did you mean ${other}?`
  // What it means is known, and this command has nothing like it.
  if (others !== null) return ''
  return /^--../.test(rawName) ? suggestion(rawName, names) : letterMeant(rawName, names)
}

/** What other programs call it: the first that the command has. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  '--payload': '--input',
  '--data': '--input',
  '--body': '--input',
  '--message': '--note',
  '--reason': '--note',
  '--since': '--from',
  '--until': '--to',
  '--for': '--until --to',
  '--last': '--limit --count --lines',
  '--limit': '--limit --count --lines',
  '--count': '--count --limit --lines',
  '--lines': '--lines --count --limit',
  '--tail': '--lines',
  '--status': '--outcome --state',
  '--outcome': '--outcome --state',
  '--state': '--state --outcome',
  '--schedule': '--cron',
  '--pattern': '--cron',
  '--expression': '--cron',
  '--interval': '--every',
  '--timezone': '--tz',
  '--zone': '--tz',
}

/** A letter that begins one name only, in whatever case. */
function letterMeant(rawName: string, names: readonly string[]): string {
  const letter = /^-([a-z])$/i.exec(rawName)?.[1]?.toLowerCase()
  if (letter === undefined) return ''
  const begun = names.filter((name) => name.startsWith(`--${letter}`) && !name.startsWith('--no-'))
  return begun.length === 1 ? ` Did you mean ${begun[0]}?` : ''
}

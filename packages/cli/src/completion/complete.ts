import type { Flag, Flags } from '../args.ts'
import type { Command, Entry } from '../commands/command.ts'

export interface Suggestion {
  readonly word: string
  readonly meaning: string
}

export interface Lookup {
  readonly commands: readonly Entry[]
  readonly commonFlags: Flags
  /** Names in the store that begin so; none if it can't be asked quickly. */
  readonly schedules: (prefix: string) => Promise<readonly string[]>
  readonly instances: (prefix: string) => Promise<readonly string[]>
}

/** What may stand where the cursor is: the last word is the one that is being typed, and may be empty. */
export async function complete(words: readonly string[], lookup: Lookup): Promise<readonly Suggestion[]> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const [name] = before
  if (name === undefined) return commandNames(typed, lookup)
  if (before.includes('--')) return []
  const entry = lookup.commands.find((known) => known.name === name || known.aliases?.includes(name))
  if (entry === undefined) return name === 'help' ? commandNames(typed, lookup) : []
  const command = await entry.load()
  const flags: Flags = { ...command.flags, ...lookup.commonFlags }
  const open = openFlag(before, flags)
  if (open !== undefined) return valuesOf(open, typed)
  const inline = /^--([\w-]+)=(.*)$/.exec(typed)
  if (inline !== null) {
    const flag = flags[inline[1]!]
    return flag === undefined
      ? []
      : valuesOf(flag, inline[2]!).map(({ word, meaning }) => ({ word: `--${inline[1]}=${word}`, meaning }))
  }
  if (typed.startsWith('-')) return flagNames(typed, flags, before)
  return operandsOf(command, typed, before, flags, lookup)
}

function commandNames(typed: string, { commands }: Lookup): readonly Suggestion[] {
  return commands
    .filter(({ hidden }) => !hidden)
    .map(({ name, summary }) => ({ word: name, meaning: summary }))
    .filter(({ word }) => word.startsWith(typed))
}

/** The flag that waits for its value. */
function openFlag(before: readonly string[], flags: Flags): Flag | undefined {
  const last = before.at(-1) ?? ''
  const long = /^--([\w-]+)$/.exec(last)?.[1]
  const short = /^-(\w)$/.exec(last)?.[1]
  const flag =
    long === undefined
      ? Object.values(flags).find((known) => known.short !== undefined && known.short === short)
      : flags[long]
  return flag?.type === 'string' ? flag : undefined
}

function valuesOf({ choices = [] }: Flag, typed: string): readonly Suggestion[] {
  return choices.filter((choice) => choice.startsWith(typed)).map((word) => ({ word, meaning: '' }))
}

function flagNames(typed: string, flags: Flags, before: readonly string[]): readonly Suggestion[] {
  return Object.entries(flags)
    .map(([name, flag]) => ({ word: `--${name}`, meaning: flag.help, flag }))
    .filter(({ word, flag }) => word.startsWith(typed) && (flag.repeat || !before.includes(word)))
    .map(({ word, meaning }) => ({ word, meaning }))
}

/** The help says what operands there are: `<schedule>`, `<status|plan|up>`. */
async function operandsOf(
  { operands }: Command,
  typed: string,
  before: readonly string[],
  flags: Flags,
  { schedules, instances }: Lookup,
): Promise<readonly Suggestion[]> {
  const given = before.slice(1).filter((word, index, all) => {
    return !word.startsWith('-') && openFlag(all.slice(0, index), flags) === undefined
  }).length
  const kinds = operands.match(/<[^>]*>…?/g) ?? []
  const repeated = /…|\.\.\./.test(operands)
  const kind = kinds[given] ?? (repeated ? kinds.at(-1) : undefined)
  if (kind === undefined) return []
  if (/schedule|prefix/.test(kind)) return (await schedules(typed)).map((word) => ({ word, meaning: '' }))
  if (/instance|id/.test(kind)) return (await instances(typed)).map((word) => ({ word, meaning: '' }))
  const choices = kind.slice(1).replace(/>…?$/, '').split('|')
  return choices.length < 2
    ? []
    : choices.filter((word) => word.startsWith(typed)).map((word) => ({ word, meaning: '' }))
}

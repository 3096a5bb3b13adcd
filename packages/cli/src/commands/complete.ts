import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from 'cronce'
import { type Args, readArgs } from '../args.ts'
import { complete as completeWords } from '../completion/complete.ts'
import type { Io } from '../io.ts'
import { openClient, STORE_FLAGS } from '../open-store.ts'
import { sanitize } from '../terminal.ts'
import type { Command, Entry } from './command.ts'
import { COMMON_FLAGS } from './help.ts'

/** A person who presses Tab does not wait longer. */
const PATIENCE_MS = 1_500
const MOST_NAMES = 200

/** Handed the table of commands, which has this one in it. */
export function completeWith(commands: readonly Entry[]): Command {
  return {
    operands: '-- <word>…',
    examples: [['cronce __complete -- run bil', 'what the shell asks when you press Tab']],
    flags: {},
    run: (args, io) => runComplete(commands, args, io),
  }
}

async function runComplete(commands: readonly Entry[], args: Args, io: Io): Promise<number> {
  const words = (args.rest ?? args.positionals).map((word) => (word === '""' ? '' : word))
  const ask = (read: (client: Connection) => Promise<readonly string[]>) => askStore(words, io, read)
  const found = await completeWords(words, {
    commands,
    commonFlags: COMMON_FLAGS,
    schedules: (prefix) =>
      ask(async (client) => {
        const { items } = await client.schedules.list({ prefix, limit: MOST_NAMES })
        return items.map(({ name }) => name)
      }),
    instances: (prefix) =>
      ask(async (client) =>
        (await client.instances.list({ ended: 0 })).map(({ id }) => id).filter((id) => id.startsWith(prefix)),
      ),
  })
  for (const { word, meaning } of found) io.out(`${sanitize(word)}\t${sanitize(meaning)}\n`)
  return 0
}

/** Nothing rather than an error: the answer goes into the user's command line. */
async function askStore(
  words: readonly string[],
  io: Io,
  read: (client: Connection) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const controller = new AbortController()
  const answer = async (): Promise<readonly string[]> => {
    const client = await openClient(storeArgs(words), { ...io, err: () => {} })
    try {
      return await read(client)
    } finally {
      await client.close()
    }
  }
  const late = sleep<readonly string[]>(PATIENCE_MS, [], { signal: controller.signal, ref: false })
  try {
    return await Promise.race([answer(), late])
  } catch {
    return []
  } finally {
    controller.abort()
    late.catch(() => {})
  }
}

/** `--store` and its like may stand before the word that is being typed. */
function storeArgs(words: readonly string[]): Args {
  const kept: string[] = []
  words.forEach((word, index) => {
    const name = /^--([a-z]+)(=|$)/.exec(word)?.[1]
    if (name === undefined || !Object.hasOwn(STORE_FLAGS, name)) return
    kept.push(word)
    const value = words[index + 1]
    if (!word.includes('=') && value !== undefined) kept.push(value)
  })
  return readArgs(kept, STORE_FLAGS)
}

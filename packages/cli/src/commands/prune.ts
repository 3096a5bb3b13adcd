import type { Client } from 'cronce'
import type { Args } from '../args.ts'
import { authorOf, confirm, LOG, operatorOf } from '../confirm.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { printJson, warn } from '../output.ts'
import { type ProgressLine, progressLine } from '../progress.ts'
import { steerFlags } from '../steer/flags.ts'
import { counted, say, whyWords } from '../steer/say.ts'
import type { Command } from './command.ts'

export const prune: Command = {
  operands: '',
  examples: [
    ['cronce prune --dry-run', 'how many fires would be deleted?'],
    ['cronce prune --yes', 'delete them, with their runs and steps'],
  ],
  about: [
    'Instances prune by themselves, a few records at a time. Use this for a store without instances, or to prune at once.',
    'Each schedule has its own retention; a record that prevents a fire from running twice is never deleted.',
  ].join('\n'),
  flags: steerFlags(LOG),
  run: runPrune,
}

/** No record is kept for less: that it is there is what prevents a second run. */
const SHORTEST_MS = 86_400_000
const STEP = 1_000

function runPrune(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'prune')
  const { signal } = io
  return withClient(args, io, async (client) => {
    const line = progressLine(io)
    // Counting reads all that is old; who has said yes need not wait for it.
    const expired = args.has('yes') && !args.has('dry-run') ? null : await countExpired(client, signal, line)
    line.clear()
    const plan = {
      lines: [planWords(expired)],
      dangerous: expired !== 0,
      json: { fires: expired },
    }
    if (!(await confirm(plan, args, io))) return EXIT.ok
    const deleted = await deleteAll(client, signal, line, args, io)
    if (args.has('json')) printJson({ deleted, ...authorOf(args, io) }, io)
    else
      say(
        `${counted(deleted, 'fire')} deleted, with ${deleted === 1 ? 'its' : 'their'} runs and steps.${whyWords(authorOf(args, io))}`,
        io,
      )
    return EXIT.ok
  })
}

function planWords(expired: number | null): string {
  if (expired === null) return 'Delete all fires that have had their time, with their runs and steps.'
  if (expired === 0) return 'Nothing to delete: no fire has had its time.'
  return `Delete ${counted(expired, 'fire that has had its', 'fires that have had their')} time, with all runs and steps.`
}

async function countExpired(client: Client, signal: AbortSignal, line: ProgressLine): Promise<number> {
  const { now } = await client.store.check()
  let seen = 0
  let expired = 0
  for await (const { state, expiresAt } of client.fires.all({ to: now - SHORTEST_MS, order: 'earliest' })) {
    signal.throwIfAborted()
    if (state !== 'open' && expiresAt !== null && expiresAt <= now) expired++
    line.show(`${counted(++seen, 'fire')} looked at, ${expired} had their time`)
  }
  return expired
}

async function deleteAll(client: Client, signal: AbortSignal, line: ProgressLine, args: Args, io: Io): Promise<number> {
  let total = 0
  // The operator log has one line, however many steps it takes.
  let by: ReturnType<typeof operatorOf> | undefined = operatorOf(args, io)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { deleted } = await client.fires.prune({ limit: STEP, ...by })
      by = undefined
      total += deleted
      if (deleted === 0) return total
      line.show(`${counted(total, 'fire')} deleted`)
    }
  } catch (error) {
    line.clear()
    warn(`Not all of it was done: ${counted(total, 'fire')} deleted. Do it again for the rest.`, io)
    throw error
  } finally {
    line.clear()
  }
}

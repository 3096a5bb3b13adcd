import { resolve } from 'node:path'
import type { Args } from '../args.ts'
import { CONFIG_FILES } from '../config.ts'
import { EXIT } from '../exit-code.ts'
import { Interrupted } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { atMost } from '../operands.ts'
import { readKeys } from '../service/dev-keys.ts'
import { devSession, isDevChild } from '../service/dev-session.ts'
import { detailLines } from '../service/jobs-error.ts'
import { JOB_FILES, SERVICE_FLAGS } from '../service/settings.ts'
import { sanitize } from '../terminal.ts'
import type { Command } from './command.ts'

export const dev: Command = {
  operands: '[FILE]',
  examples: [
    ['cronce dev jobs.ts', 'run the jobs here, and again whenever the file changes'],
    ['cronce dev', 'the jobs of the configuration, or jobs.ts'],
  ],
  about: [
    'Prints everything that happens. On a terminal, press a key to fire a job now: the list shows which. The default store is',
    'sqlite:cronce.db in this folder. If a file has an error, it waits for the next change.',
  ].join('\n'),
  flags: SERVICE_FLAGS,
  run: (args, io) => (isDevChild(io) ? child(args, io) : runDev(args, io)),
}

/** Files that may be there soon, although they are not yet. */
const USUAL = [...JOB_FILES, ...CONFIG_FILES]

async function child(args: Args, io: Io): Promise<number> {
  // Only here, so that the process which watches stays small.
  const { runDevChild } = await import('../service/dev-child.ts')
  try {
    return await runDevChild(args, io)
  } catch (error) {
    io.err(detailLines(error))
    throw error
  }
}

async function runDev(args: Args, io: Io): Promise<number> {
  const [given] = atMost(args, 1, 'dev')
  const say = (text: string): void => {
    for (const line of text.split('\n')) io.err(`${io.paintErr('dim', sanitize(line))}\n`)
  }
  const quitting = Promise.withResolvers<number>()
  const { signal } = io
  signal.addEventListener('abort', () => {
    const { reason } = signal
    quitting.resolve(reason instanceof Interrupted && reason.exitCode === EXIT.interrupted ? EXIT.interrupted : EXIT.ok)
  })
  const session = devSession({
    program: process.argv[1]!,
    argv: process.argv.slice(2),
    files: (given === undefined ? USUAL : [given]).map((file) => resolve(io.cwd, file)),
    say,
    onStarted: (schedules) => keys?.offer(schedules),
  })
  const keys =
    io.ask === null
      ? null
      : readKeys(process.stdin, {
          fire: (schedule) => session.fire(schedule),
          restart: () => session.restart('Restarting.'),
          quit: (isInterrupt) => quitting.resolve(isInterrupt ? EXIT.interrupted : EXIT.ok),
          show: say,
        })
  try {
    return await quitting.promise
  } finally {
    keys?.close()
    await session.close()
  }
}

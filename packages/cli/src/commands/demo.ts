import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { atMost } from '../operands.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const demo: Command = {
  operands: '',
  examples: [
    ['cronce demo', 'watch three processes in a browser; nothing is written into this folder'],
    ['cronce demo --no-dashboard', 'in the terminal alone'],
  ],
  about: [
    'Starts three processes on one SQLite file in a temporary folder, kills one in the middle of a run and pauses another beyond its',
    'lease. Then it compares what ran with what was due: nothing twice, nothing lost. Before that it makes 90 days of history, so that',
    'every screen of the dashboard has something to show. The fleet and its faults go on until Ctrl-C.',
  ].join('\n'),
  flags: {
    seconds: { type: 'string', value: 'N', help: 'How long until the comparison, from 5 to 3600 (default 20)' },
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      help: 'Where the dashboard is (default 127.0.0.1:7070, or any free port)',
    },
    'no-dashboard': { type: 'boolean', help: 'In the terminal alone, without history; ends after the comparison' },
    quiet: { type: 'boolean', help: 'Print the result alone' },
  },
  run: runCommand,
}

const DEFAULT_SECONDS = '20'
const LEAST_SECONDS = 5
const MOST_SECONDS = 3_600
const DEFAULT_ADDRESS = '127.0.0.1:7070'

async function runCommand(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'demo')
  const { orderOf, runWorker } = await import('../demo/worker.ts')
  const order = orderOf(io)
  if (order !== null) return runWorker(order, io)
  const seconds = readSeconds(args.text('seconds') ?? DEFAULT_SECONDS)
  const { readAddress } = await import('../service/listen.ts')
  const dashboard = args.has('no-dashboard') ? null : readAddress(args.text('listen') ?? DEFAULT_ADDRESS)
  const { runDemo } = await import('../demo/run.ts')
  return runDemo({ seconds, isQuiet: args.has('quiet'), dashboard }, io)
}

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (Number.isFinite(seconds) && seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS) return seconds
  throw new UsageError(`--seconds cannot be "${text}".`, `Write a number from ${LEAST_SECONDS} to ${MOST_SECONDS}.`)
}

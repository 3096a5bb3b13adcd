import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { printJson } from '../output.ts'
import { version as ownVersion } from '../version.ts'
import type { Command } from './command.ts'

export const version: Command = {
  operands: '',
  examples: [
    ['cronce version', 'the version of cronce'],
    ['cronce version --json', 'also those of Node.js, its time zone data and SQLite'],
  ],
  flags: {
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runVersion,
}

function runVersion(args: Args, io: Io): number {
  const { tz = null, sqlite = null, node } = process.versions
  if (!args.has('json')) io.out(`${ownVersion()}\n`)
  else
    printJson({ cronce: ownVersion(), node, zoneData: tz, sqlite, platform: `${process.platform} ${process.arch}` }, io)
  return 0
}

#!/usr/bin/env node
import { CronceError } from 'cronce/cron'
import type { Io } from './print.ts'
import { errorJson, errorText } from './print-error.ts'
import { run } from './run.ts'
import { painter } from './terminal.ts'

const EXIT_USAGE = 2

for (const stream of [process.stdout, process.stderr]) {
  // `cronce next ... | head -1` closes the pipe early; that is no error of ours.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

const argv = process.argv.slice(2)
// Set rather than exit: what was written to a pipe may not have left yet.
process.exitCode = main(argv)

function main(argv: readonly string[]): number {
  const { stdout, stderr, env } = process
  // Errors come before the flags are understood, so these two are looked for in the raw arguments.
  const refused = argv.includes('--no-color')
  const json = argv.includes('--json')
  const io: Io = {
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    paint: painter({ isTTY: stdout.isTTY, env, refused }),
    paintErr: painter({ isTTY: stderr.isTTY, env, refused }),
    now: Date.now(),
  }
  try {
    return run(argv, io)
  } catch (error) {
    if (!(error instanceof CronceError)) throw error
    io.err(json ? errorJson(error) : errorText(error, io.paintErr))
    return EXIT_USAGE
  }
}

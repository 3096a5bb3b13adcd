import { text } from 'node:stream/consumers'
import { askAt } from './ask.ts'
import { EXIT } from './exit-code.ts'
import { interruptSignal } from './interrupt.ts'
import { run } from './run.ts'
import { onStreamError } from './stream-errors.ts'
import { painter } from './terminal.ts'

const { stdin, stdout, stderr, env } = process

const argv = process.argv.slice(2)

// Until it is known how it ended: a process that just runs out of things to do has not succeeded.
process.exitCode = EXIT.failed

for (const stream of ['stdout', 'stderr'] as const) {
  process[stream].on('error', (error: NodeJS.ErrnoException) => {
    const { exit, words } = onStreamError({ argv, stream, error })
    if (words !== null) stderr.write(`error: ${words}\n`)
    if (exit !== null) process.exit(exit)
  })
}

const refused = argv.includes('--no-color')
const signal = interruptSignal()

// Set rather than exit: what was written to a pipe may not have left yet.
process.exitCode = await run(argv, {
  out: (data) => stdout.write(data),
  err: (data) => stderr.write(data),
  paint: painter({ isTTY: stdout.isTTY, env, refused }),
  paintErr: painter({ isTTY: stderr.isTTY, env, refused }),
  now: Date.now(),
  env,
  cwd: process.cwd(),
  isTTY: stdout.isTTY,
  isErrTTY: stderr.isTTY,
  columns: stdout.isTTY ? stdout.columns : null,
  ask: stdin.isTTY && stderr.isTTY ? askAt(stdin, stderr) : null,
  readInput: () => text(stdin),
  get signal() {
    return signal()
  },
})

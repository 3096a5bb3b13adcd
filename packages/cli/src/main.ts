import { text } from 'node:stream/consumers'
import { askAt } from './ask.ts'
import { interruptSignal } from './interrupt.ts'
import { run } from './run.ts'
import { painter } from './terminal.ts'

const { stdin, stdout, stderr, env } = process

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `cronce next ... | head -1` closes the pipe early; that is no error of ours.
    if (error.code === 'EPIPE') process.exit()
    // A full disk, mostly. If it is stderr that cannot be written there is nobody left to tell.
    if (stream === stdout) stderr.write(`error: The output cannot be written: ${error.message}\n`)
    process.exit(1)
  })
}

const argv = process.argv.slice(2)
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

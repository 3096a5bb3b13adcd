import { run } from './run.ts'
import { painter } from './terminal.ts'

const { stdout, stderr, env } = process

for (const stream of [stdout, stderr]) {
  // `cronce next ... | head -1` closes the pipe early; that is no error of ours.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

const argv = process.argv.slice(2)
const refused = argv.includes('--no-color')

// Set rather than exit: what was written to a pipe may not have left yet.
process.exitCode = run(argv, {
  out: (text) => stdout.write(text),
  err: (text) => stderr.write(text),
  paint: painter({ isTTY: stdout.isTTY, env, refused }),
  paintErr: painter({ isTTY: stderr.isTTY, env, refused }),
  now: Date.now(),
})

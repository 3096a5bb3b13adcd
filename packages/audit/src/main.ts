/** What `cronce-audit` starts. */
import { EXIT, ownVersion, runCommand } from './command.ts'

// A reader that closes the pipe, such as `head`, has all that it wants.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

try {
  process.exitCode = await runCommand(process.argv.slice(2), {
    folder: process.cwd(),
    version: ownVersion(import.meta.dirname),
    out: (text) => process.stdout.write(text),
    error: (text) => process.stderr.write(text),
  })
} catch (error) {
  console.error(error)
  process.exitCode = EXIT.internal
}

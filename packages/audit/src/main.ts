/** What `cronce-audit` starts. */
import { EXIT, ownVersion, runCommand } from './command.ts'

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

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CronceError } from '../errors.ts'

/**
 * The path of one of this package's own programs, in the folder of the file that starts it. Found when it is needed: in a bundle
 * the program is missing, and a CommonJS bundle has no `import.meta.url`, but both must load and run plain functions.
 */
export function ownProgram(name: string, startedBy: string | undefined): string {
  const ending = startedBy?.endsWith('.ts') ? '.ts' : '.js'
  const path = startedBy === undefined ? undefined : fileURLToPath(new URL(`./${name}${ending}`, startedBy))
  if (path !== undefined && existsSync(path)) return path
  const error = new CronceError(
    'PROGRAM_MISSING',
    `The program ${name}.js of cronce is missing. A bundle does not contain it.`,
    {
      hint: 'Mark cronce as external in your bundler: commands, files and background tasks run in programs of the package.',
    },
  )
  // A retry would find the same bundle.
  throw Object.assign(error, { retryable: false })
}

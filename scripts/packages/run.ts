import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The output of a program. Throws, with all of the output, if the program fails. */
export async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd, encoding: 'utf8', maxBuffer: 1e8 })
  running.child.stdin?.end()
  try {
    return (await running).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** What a program that must fail wrote to its standard error. */
export async function runFailing(cwd: string, command: string, ...args: string[]): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd, encoding: 'utf8' })
  running.child.stdin?.end()
  const ended = await running.then(
    () => null,
    (error: unknown) => error as { readonly stderr: string },
  )
  if (ended === null) throw new Error(`${command} ${args.join(' ')} succeeds, but must fail`)
  return ended.stderr
}

export function demand(holds: boolean, message: string): void {
  if (!holds) throw new Error(message)
}

import { spawn } from 'node:child_process'
import { type Expected, judge } from './read-docs.ts'

/** A program that takes longer counts as hanging. */
const LONGEST_MS = 300_000

export interface Ended {
  readonly output: string
  readonly code: number | null
  readonly signal: string | null
}

interface RunOptions {
  readonly expected?: Expected
  /** Beside the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** A program that never ends is stopped as a deploy would stop it, once it has printed the expected output. */
export function runProgram(
  command: string,
  args: readonly string[],
  cwd: string,
  { expected, env = {} }: RunOptions = {},
): Promise<Ended> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const tooLong = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  let output = ''
  const hear = (chunk: string): void => {
    output += chunk
    // The program has printed everything expected, and would never end.
    if (expected?.ends === 'when-told' && judge(expected, { output, code: null, signal: 'SIGTERM' }) === null) {
      child.kill('SIGTERM')
    }
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(tooLong)
      resolve({ output, code, signal })
    })
  })
}

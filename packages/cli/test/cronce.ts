import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Io } from '../src/print.ts'
import { run } from '../src/run.ts'

export const MAIN = fileURLToPath(new URL('../bin/cronce.js', import.meta.url))

export interface Result {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The real thing, as a process of its own, with nothing of the caller's colours. */
export function cronce(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Result> {
  return start(process.execPath, [MAIN, ...args], env)
}

export function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Result> {
  const { NO_COLOR: _none, FORCE_COLOR: _force, TZ: _zone, ...inherited } = process.env
  const child = spawn(command, args, { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}

/** The same without a process, for tests of what is said rather than of how it gets out. */
export function call(...args: string[]): Result {
  const { io, said } = listener({})
  const status = run(args, io)
  if (typeof status !== 'number') throw new Error(`${args[0]} takes its time: use ask`)
  return { status, ...said() }
}

/** The same for commands that ask somebody. */
export async function ask(args: readonly string[], env: Io['env'] = {}): Promise<Result> {
  const { io, said } = listener(env)
  const status = await run(args, io)
  return { status, ...said() }
}

function listener(env: Io['env']): { io: Io; said: () => Omit<Result, 'status'> } {
  let stdout = ''
  let stderr = ''
  const plain = (_: unknown, text: string): string => text
  const io: Io = {
    out: (text) => {
      stdout += text
    },
    err: (text) => {
      stderr += text
    },
    paint: plain,
    paintErr: plain,
    now: Date.UTC(2027, 0, 1, 12, 0, 0, 250),
    env,
  }
  return { io, said: () => ({ stdout, stderr }) }
}

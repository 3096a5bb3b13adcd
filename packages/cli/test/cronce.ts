import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Io } from '../src/io.ts'
import { run } from '../src/run.ts'

export const MAIN = fileURLToPath(new URL('../bin/cronce.js', import.meta.url))

export interface Result {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The real CLI as a child process, without the caller's color settings. */
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

export interface Asked {
  readonly env?: Io['env']
  readonly cwd?: string
  readonly now?: number
  /** The width of a terminal, for stdout and stderr; absent: not a terminal. */
  readonly columns?: number
  /** Answers to prompts, in their order; absent: not interactive. */
  readonly answers?: readonly string[]
  readonly input?: string
  readonly signal?: AbortSignal
}

/** The same without a process, for tests of the text rather than of the streams. */
export function call(...args: string[]): Promise<Result> {
  return ask(args)
}

/** The same with given surroundings, or with an environment alone. */
export async function ask(args: readonly string[], env: Io['env'] = {}, asked: Asked = {}): Promise<Result> {
  const { io, said } = listener({ env, ...asked })
  const status = await run(args, io)
  return { status, ...said() }
}

export function listener(asked: Asked): { io: Io; said: () => Omit<Result, 'status'> } {
  let stdout = ''
  let stderr = ''
  const plain = (_: unknown, text: string): string => text
  const answers = [...(asked.answers ?? [])]
  const io: Io = {
    out: (text) => {
      stdout += text
    },
    err: (text) => {
      stderr += text
    },
    paint: plain,
    paintErr: plain,
    now: asked.now ?? Date.UTC(2027, 0, 1, 12, 0, 0, 250),
    env: asked.env ?? {},
    // Where no configuration is found: tests name theirs.
    cwd: asked.cwd ?? '/',
    isTTY: asked.columns !== undefined,
    isErrTTY: asked.columns !== undefined,
    columns: asked.columns ?? null,
    ask:
      asked.answers === undefined
        ? null
        : async (question) => {
            stderr += question
            return answers.shift() ?? ''
          },
    readInput: async () => asked.input ?? '',
    signal: asked.signal ?? new AbortController().signal,
  }
  return { io, said: () => ({ stdout, stderr }) }
}

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What a script in a process of its own answers to what it is asked; `is: 'failed'` becomes an error. */
interface Answer {
  readonly is: string
}

/** A process that is asked one thing at a time. */
export interface Peer<Request, Reply extends Answer> {
  ask<Is extends Reply['is']>(request: Request, is: Is): Promise<Extract<Reply, { is: Is }>>
  stop(): void
}

export interface PeerOptions {
  readonly script: URL
  readonly name: string
  readonly args: readonly string[]
  readonly megabytes?: number
}

/** Resolves once the process has reported that it is ready. */
export async function startPeer<Request extends object, Reply extends Answer>({
  script,
  name,
  args,
  megabytes,
}: PeerOptions): Promise<Peer<Request, Reply>> {
  const heap = megabytes === undefined ? [] : [`--max-old-space-size=${megabytes}`]
  const child = fork(fileURLToPath(script), args, {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning', ...heap],
    env: { ...process.env, TZ: 'UTC' },
  })
  await reply(child, name)
  return {
    async ask(request, is) {
      const answered = reply<Reply>(child, name)
      child.send(request)
      const message = await answered
      if (message.is !== is) throw new Error(`${name} answered ${message.is} instead of ${is}.`)
      return message as Extract<Reply, { is: typeof is }>
    },
    stop: () => child.disconnect(),
  }
}

function reply<Reply extends Answer>(child: ChildProcess, name: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The process of ${name} ended with ${code}.`))
    child.once('exit', onExit)
    child.once('message', (message: Reply & { readonly message?: string }) => {
      child.off('exit', onExit)
      if (message.is === 'failed') reject(new Error(`${name}: ${message.message}`))
      else resolve(message)
    })
  })
}

/** Runs a script in a fresh process and reads what it sends. */
export function runFresh<T>(script: URL, args: readonly string[], megabytes: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(script), args, {
      execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning', `--max-old-space-size=${megabytes}`],
      env: { ...process.env, TZ: 'UTC' },
    })
    let result: { readonly value: T } | undefined
    child.once('message', (message) => {
      result = { value: message as T }
    })
    child.once('exit', (code) => {
      if (code === 0 && result !== undefined) resolve(result.value)
      else reject(new Error(`${script.pathname} ${args.join(' ')} ended with ${code}.`))
    })
  })
}

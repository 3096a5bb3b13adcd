import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LibraryName } from './library.ts'
import type { Prepared, Reply, Request, Round } from './protocol.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

/** A timing process, seen from the parent. */
export interface Child {
  readonly library: LibraryName
  prepare(workload: string, roundMs: number, warmMs: number): Promise<Prepared>
  round(round: number): Promise<Round>
  stop(): void
}

export async function startChild(library: LibraryName): Promise<Child> {
  const child = fork(CHILD, [library], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, TZ: 'UTC' },
  })
  await reply(child, library)
  const ask = async (request: Request): Promise<Reply> => {
    const answered = reply(child, library)
    child.send(request)
    const message = await answered
    if (message.is === 'failed') throw new Error(`${library}: ${message.message}`)
    return message
  }
  return {
    library,
    async prepare(workload, roundMs, warmMs) {
      const message = await ask({ do: 'prepare', workload, roundMs, warmMs })
      if (message.is !== 'prepared') throw new Error(`${library} answered ${message.is} to prepare.`)
      return message
    },
    async round(round) {
      const message = await ask({ do: 'round', round })
      if (message.is !== 'round') throw new Error(`${library} answered ${message.is} to round.`)
      return message
    },
    stop: () => child.disconnect(),
  }
}

function reply(child: ChildProcess, library: LibraryName): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The process of ${library} ended with ${code}.`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as Reply)
    })
  })
}

/** Runs a script in a fresh process and reads the JSON it prints. */
export function runFresh<T>(script: string, args: readonly string[], megabytes: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(script, import.meta.url)), args, {
      execArgv: ['--expose-gc', `--max-old-space-size=${megabytes}`],
      env: { ...process.env, TZ: 'UTC' },
    })
    let result: { readonly value: T } | undefined
    child.once('message', (message) => {
      result = { value: message as T }
    })
    child.once('exit', (code) => {
      if (code === 0 && result !== undefined) resolve(result.value)
      else reject(new Error(`${script} ${args.join(' ')} ended with ${code}.`))
    })
  })
}

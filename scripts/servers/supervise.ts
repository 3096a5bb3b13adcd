import { fork } from 'node:child_process'
import { serverAccount } from './account.ts'
import { ServerError } from './errors.ts'
import type { Answer, Command, FromSupervisor, Request, ToSupervisor } from './messages.ts'
import { settlesWithin } from './wait.ts'

/** Every request is bounded in the supervisor; this bound is for a supervisor that has ended or is frozen. */
const ANSWER_LIMIT_MS = 180_000

/** The test process's end of a supervisor. */
export interface Supervised {
  /** The server's private directory: data, sockets, configuration, `server.log`. */
  readonly directory: string
  run(command: Command): Promise<number | null>
  launch(command: Command): Promise<number>
  halt(signal: NodeJS.Signals): Promise<void>
  isRunning(pid: number): boolean
  /** End the server and remove its directory. */
  end(): Promise<void>
}

export async function supervise(name: string, endSignal: NodeJS.Signals): Promise<Supervised> {
  const channel = openChannel()
  const opened = await channel.ask({ verb: 'open', name, account: serverAccount(), endSignal })
  const directory = String(opened)
  return {
    directory,
    run: async (command) => {
      const code = await channel.ask({ verb: 'run', command })
      return code === null ? null : Number(code)
    },
    launch: async (command) => {
      // The kernel hands process ids out again: an earlier server's end must not pass for this one's.
      channel.exited.clear()
      return Number(await channel.ask({ verb: 'launch', command }))
    },
    halt: async (signal) => void (await channel.ask({ verb: 'halt', signal })),
    isRunning: (pid) => channel.isOpen() && !channel.exited.has(pid),
    end: async () => {
      if (await channel.close()) return
      throw new ServerError('SERVER_LINGERING', `The ${name} server or its directory ${directory} is still there.`)
    },
  }
}

interface Channel {
  /** Process ids the supervisor has seen end. */
  readonly exited: Set<number>
  isOpen(): boolean
  ask(request: Request): Promise<Answer>
  /** Closes the lifeline. `false`: the supervisor could not clean up. */
  close(): Promise<boolean>
}

function openChannel(): Channel {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env
  const supervisor = fork(new URL('supervisor.ts', import.meta.url), {
    // A session of its own: Ctrl-C and a kill of the test's process group must not take the cleaner first.
    detached: true,
    cwd: '/',
    // The test's flags and NODE_OPTIONS (a debugger, coverage) are about the test, not about its servers.
    execArgv: [],
    env: { PATH, TMPDIR, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) },
    // A supervisor that held the test's output open would keep the test runner waiting.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exited = new Set<number>()
  const waiting = new Map<number, (message: FromSupervisor | 'lost') => void>()
  const exit = new Promise<number | null>((resolve) => {
    supervisor.once('exit', resolve)
    supervisor.once('error', () => resolve(null))
  })
  void exit.then(() => {
    for (const settle of waiting.values()) settle('lost')
  })
  supervisor.on('message', (message: FromSupervisor) => {
    if (message.type === 'exit') exited.add(message.pid)
    else waiting.get(message.id)?.(message)
  })
  // A test that does not stop its server still ends; only an open request keeps it waiting.
  supervisor.unref()
  supervisor.channel?.unref()

  let lastId = 0
  const ask = (request: Request) =>
    new Promise<Answer>((resolve, reject) => {
      lastId += 1
      const id = lastId
      const settle = (message: FromSupervisor | 'lost') => {
        clearTimeout(limit)
        waiting.delete(id)
        if (waiting.size === 0) supervisor.channel?.unref()
        if (message === 'lost') reject(lost(request))
        else if (message.type === 'answer') resolve(message.value)
        else if (message.type === 'refusal') reject(new ServerError('SERVER_UNREADY', message.reason))
      }
      const limit = setTimeout(settle, ANSWER_LIMIT_MS, 'lost')
      waiting.set(id, settle)
      supervisor.channel?.ref()
      const question: ToSupervisor = { id, request }
      if (!supervisor.connected) settle('lost')
      else supervisor.send(question, (error) => error !== null && settle('lost'))
    })

  const close = async () => {
    supervisor.ref()
    if (supervisor.connected) supervisor.disconnect()
    return (await settlesWithin(exit, ANSWER_LIMIT_MS)) && (await exit) === 0
  }

  return { exited, isOpen: () => supervisor.connected, ask, close }
}

function lost(request: Request): ServerError {
  return new ServerError('SUPERVISOR_LOST', `The supervisor of a server did not answer "${request.verb}".`)
}

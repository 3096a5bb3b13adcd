import type { Counted, Reply, Request, Setup, Start } from './protocol.ts'

/** What this process has done so far. */
export interface Tally {
  readonly starts: Start[]
  ended: number
  lastEndedAt: number
}

export function setupOf<More extends object = object>(): Setup & More {
  return JSON.parse(process.argv[2]!) as Setup & More
}

export function tally(): Tally {
  return { starts: [], ended: 0, lastEndedAt: 0 }
}

export type Answers = {
  readonly [Do in Request['do']]?: (request: Extract<Request, { do: Do }>) => Promise<Reply | undefined>
}

/** Answers the parent, one request at a time; what resolves to nothing is answered with how long it took. */
export function answerParent(counts: Tally, answers: Answers): void {
  const all: Answers = {
    count: async () => ({ is: 'counted', ...countsOf(counts), ...cpu() }),
    collect: async () => ({ is: 'collected', starts: counts.starts }),
    ...answers,
  }
  process.on('message', async (request: Request) => {
    try {
      const from = performance.now()
      const answer = all[request.do] as ((request: Request) => Promise<Reply | undefined>) | undefined
      if (answer === undefined) throw new Error(`Unknown request: ${request.do}.`)
      process.send!((await answer(request)) ?? { is: 'done', ms: performance.now() - from })
    } catch (error) {
      process.send!({ is: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.once('disconnect', () => process.exit())
  process.send!({ is: 'ready' })
}

function countsOf({ starts, ended, lastEndedAt }: Tally): Omit<Counted, 'is' | 'cpuMs' | 'mainMs'> {
  return { pid: process.pid, started: starts.length, ended, lastEndedAt }
}

function cpu(): Pick<Counted, 'cpuMs' | 'mainMs'> {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  return { cpuMs: (all.user + all.system) / 1000, mainMs: (main.user + main.system) / 1000 }
}

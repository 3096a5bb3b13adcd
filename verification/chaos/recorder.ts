import { appendFileSync } from 'node:fs'
import type { Entry, Fault, Operation, Request, RunOfFire, Time } from '../../packages/checker/src/history.ts'
import { sinceOrigin } from './order.ts'

/** What the controller itself sees and does, on the one clock that no fault touches: the monotonic one of the host. */
export interface Recorder {
  /** For processes, so that they count from the same moment. */
  readonly origin: bigint
  readonly now: () => Time
  readonly entries: Entry[]
  add(entry: Entry): void
  /** Something lasts from now on until the function is called that this returns. */
  fault(fault: string, node: string | null, options?: Pick<Fault, 'sparesRuns'>): () => void
  /** Sends a request and records its result. Never rejects. */
  operate(schedule: string, request: Request, ask: () => Promise<unknown>): Promise<Operation['result']>
  /** A resource outside that compares tokens: false for one that is lower than one it has seen. */
  present(run: RunOfFire, node: string): boolean
  log(line: string): void
}

export function createRecorder(logFile: string): Recorder {
  const origin = process.hrtime.bigint()
  const now = (): Time => sinceOrigin(origin)
  const entries: Entry[] = []
  const highest = new Map<string, bigint>()
  const log = (line: string): void => appendFileSync(logFile, `${now().toFixed(0).padStart(7)} ${line}\n`)
  return {
    origin,
    now,
    entries,
    log,
    add: (entry) => void entries.push(entry),
    fault(fault, node, options = {}) {
      const at = now()
      log(`${fault}${node === null ? '' : ` of ${node}`}`)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        entries.push({ kind: 'fault', at, until: now(), fault, node, ...options })
        log(`${fault}${node === null ? '' : ` of ${node}`} is over`)
      }
    },
    async operate(schedule, request, ask) {
      const at = now()
      let result: Operation['result'] = 'ok'
      try {
        await ask()
      } catch (error) {
        result = isRefused(error) ? 'fail' : 'info'
        log(`${request.verb} ${schedule}: ${result}: ${(error as Error).message}`)
      }
      const endedAt = result === 'info' ? null : now()
      entries.push({ kind: 'operation', at, endedAt, result, schedule, ...request })
      log(`${request.verb} ${schedule}: ${result}`)
      return result
    },
    present(run, node) {
      // Fires of this schedule come one at a time, so the resource may compare all their tokens.
      const { schedule, token } = run
      const accepted = BigInt(token) >= (highest.get(schedule) ?? 0n)
      if (accepted) highest.set(schedule, BigInt(token))
      entries.push({ kind: 'effect', at: now(), node, sink: 'fenced', key: token, accepted, ...run })
      return accepted
    },
  }
}

/** Certainly nothing was changed: the store reported it, or was not asked at all. */
function isRefused(error: unknown): boolean {
  const { code, notApplied } = error as { code?: unknown; notApplied?: unknown }
  return notApplied === true || (typeof code === 'string' && !code.startsWith('STORE_'))
}

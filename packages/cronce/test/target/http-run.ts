import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { TargetRun } from '../../src/target/target-run.ts'
import { listen } from './listen.ts'

export interface Arrived {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answering = (arrived: Arrived, response: ServerResponse) => void

export interface Endpoint {
  readonly origin: string
  /** `host:port`. */
  readonly host: string
  readonly arrived: readonly Arrived[]
}

/** A real endpoint on loopback that remembers what came. */
export async function endpoint(context: TestContext, answer: Answering, host?: string): Promise<Endpoint> {
  const arrived: Arrived[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(parts).toString() }
      arrived.push(one)
      answer(one, response)
    })
  })
  const origin = await listen(context, server, host)
  return { origin, host: new URL(origin).host, arrived }
}

export function answers(status: number, headers: Record<string, string> = {}, body = ''): Answering {
  return (_, response) => response.writeHead(status, headers).end(body)
}

/** A run as the engine would hand it to a target. */
export function targetRun(changes: Partial<TargetRun> = {}): TargetRun & { readonly lines: readonly string[] } {
  const lines: string[] = []
  const log = Object.assign((line: string) => void lines.push(line), {
    debug: (line: string) => void lines.push(line),
    info: (line: string) => void lines.push(line),
    warn: (line: string) => void lines.push(line),
    error: (line: string) => void lines.push(line),
  })
  const dueAt = Date.parse('2027-01-01T03:00:00Z')
  return {
    fire: { schedule: 'nightly', job: 'report', dueAt, nonce: '', kind: 'scheduled', input: { to: 'ada' } },
    attempt: 2,
    token: 17_592_186_044_417n,
    signal: new AbortController().signal,
    instance: 'one',
    namespace: 'default',
    isSingle: true,
    lease: null,
    graceMs: 10_000,
    previous: { dueAt: null, succeededDueAt: null, succeededAt: null, sinceSuccessMs: null },
    once: () => Promise.reject(new Error('not here')),
    idempotencyKey: () => 'cronce_key',
    progress: () => {},
    log,
    transaction: () => Promise.reject(new Error('not here')),
    lines,
    ...changes,
  }
}

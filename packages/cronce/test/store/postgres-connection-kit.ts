import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/store/postgres/database.ts'
import { type ConnectOptions, openDatabase, type Target } from '../../src/store/postgres/open.ts'
import { afterwards } from './sqlite-kit.ts'

/** Answers what it was asked. */
export const ECHO = { name: 'echo', sql: 'select $1::text as answer' }

/** A deadline that only a call that never returns exceeds. Tests about deadlines have their own. */
const LIVENESS_MS = 60_000

/** A database that is closed with the test. Warnings fail it, unless it takes them itself. */
export function openFor(context: TestContext, target: Target, options: Partial<ConnectOptions> = {}): Database {
  const warn = (code: string, message: string): void => assert.fail(`${code}: ${message}`)
  const database = openDatabase(target, { warn, timeoutMs: LIVENESS_MS, ...options })
  afterwards(context, () => database.close())
  return database
}

/** A statement without parameters. */
export function asking(sql: string): { readonly name: string; readonly sql: string } {
  return { name: 'test', sql }
}

export async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 6_000; look++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.fail(`waited in vain until ${what}`)
}

/** Until it does. For a database whose timeout a busy machine may exceed. */
export function answers(database: Pick<Database, 'ask'>): Promise<void> {
  return eventually('it answers', () =>
    database.ask(ECHO, ['here']).then(
      (answer) => answer === 'here',
      () => false,
    ),
  )
}

/** The error that this rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error & { code: string; notApplied?: boolean }> {
  try {
    await promise
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error)
    return error as Error & { code: string }
  }
  return assert.fail('it did not fail')
}

export interface Worker {
  readonly process: ChildProcess
  /** Its next message. */
  said(): Promise<unknown>
}

/** A process with a database of its own; see postgres-connection-worker.ts. `hidden`: packages that it has not got. */
export function startWorker(
  context: TestContext,
  order: { task: string; url: string; lock?: string },
  hidden: readonly string[] = [],
): Worker {
  const child = fork(fileURLToPath(new URL('postgres-connection-worker.ts', import.meta.url)), [
    JSON.stringify(order),
    ...hidden,
  ])
  afterwards(context, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  // Not `exit`, which may be emitted before the last message of the process.
  const gone = once(child, 'disconnect').then(() => assert.fail('it ended and said nothing'))
  gone.catch(() => {})
  const said = async (): Promise<unknown> => (await Promise.race([once(child, 'message'), gone]))[0]
  return { process: child, said }
}

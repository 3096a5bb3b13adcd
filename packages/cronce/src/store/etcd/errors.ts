import type { ErrorCode } from '../../errors.ts'
import { CronceError } from '../../errors.ts'
import { StoreError } from '../store-error.ts'
import { CallLost, GrpcError } from './connection.ts'

// Status codes of gRPC.
const INVALID_ARGUMENT = 3
const NOT_FOUND = 5
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const FAILED_PRECONDITION = 9
const OUT_OF_RANGE = 11
const UNIMPLEMENTED = 12
const UNAUTHENTICATED = 16

/** The server looked at the request and refused it: nothing was written. */
const REFUSALS: ReadonlySet<number> = new Set([
  ...[INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED],
  ...[FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED],
])

export function isLeaseGone(error: unknown): boolean {
  return error instanceof GrpcError && error.code === NOT_FOUND && error.message.includes('lease not found')
}

export function isCompacted(error: unknown): boolean {
  return error instanceof GrpcError && error.code === OUT_OF_RANGE && error.message.includes('compacted')
}

/** The token has expired, the member has forgotten it in a restart, or users or roles were changed after it was signed. */
export function isTokenInvalid(error: unknown): boolean {
  if (!(error instanceof GrpcError)) return false
  return error.code === UNAUTHENTICATED || error.message.includes('revision of auth store is old')
}

/** This member gave no answer that counts: another one may. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof CallLost || (error instanceof GrpcError && !REFUSALS.has(error.code))
}

/** What went wrong in our words. `null` for `notApplied`: as the error itself says. */
export function translate(error: unknown, name: string, notApplied: boolean | null = null): CronceError {
  if (error instanceof CronceError) return error
  const [code, message, hint] = wordsFor(error, name)
  return new StoreError(code, message, { hint, cause: error, notApplied: notApplied ?? wasRefused(error) })
}

function wasRefused(error: unknown): boolean {
  if (error instanceof CallLost) return error.progress === 'connecting'
  return error instanceof GrpcError && REFUSALS.has(error.code)
}

type Words = readonly [code: ErrorCode, message: string, hint: string]

function wordsFor(error: unknown, name: string): Words {
  const text = (error instanceof Error ? error.message : String(error)).replace(/^(etcdserver|mvcc|auth): /, '')
  if (error instanceof CallLost) return lostWords(error, name, text)
  if (!(error instanceof GrpcError)) return ['STORE_FAILED', `${name} failed: ${text}.`, REPORT]
  return REFUSED.find(([pattern]) => pattern.test(error.message))?.[1](name, text) ?? otherWords(error, name, text)
}

const REPORT = 'Report this: it should not happen.'

function lostWords({ progress, message }: CallLost, name: string, text: string): Words {
  if (progress === 'connecting') {
    return ['STORE_UNREACHABLE', `${name} can't be reached: ${text}.`, 'Check that etcd runs, and its endpoints.']
  }
  if (/^no answer within/.test(message)) {
    return ['STORE_SILENT', `${name} gave ${text}.`, 'Check that the cluster has a leader and is not overloaded.']
  }
  return ['STORE_LOST', `The connection to ${name} was lost: ${text}.`, 'Try again: the next call makes a new one.']
}

/** By what etcd's message says, the most specific first. */
const REFUSED: readonly (readonly [pattern: RegExp, words: (name: string, text: string) => Words])[] = [
  [
    /database space exceeded/,
    (name) => [
      'STORE_FULL',
      `${name} is full: its database has reached the quota, and etcd refuses every write.`,
      'Free space on each member: etcdctl compact REVISION, etcdctl defrag, then etcdctl alarm disarm. Set --auto-compaction-retention, ' +
        'keep less history, or raise --quota-backend-bytes. See https://github.com/cronce/cronce/blob/main/docs/etcd.md.',
    ],
  ],
  [
    /permission denied|invalid user ID or password|invalid auth token|user name is empty/,
    (name, text) => [
      'STORE_FORBIDDEN',
      `${name} refused: ${text}.`,
      'Check user and password, and that a role of the user may read and write all keys that begin with the prefix (cronce, unless you chose another).',
    ],
  ],
  [
    /authentication is not enabled/,
    (name) => [
      'STORE_INVALID',
      `${name} has authentication switched off, but a user was given.`,
      'Leave the user out, or run etcdctl auth enable.',
    ],
  ],
  [
    /too many requests/,
    (name, text) => ['STORE_BUSY', `${name} is overloaded: ${text}.`, 'Wait: the store goes on by itself.'],
  ],
  [
    // The first is etcd's limit, the second, half a megabyte above it, that of its gRPC server.
    /request is too large|received message larger than max/,
    (name, text) => [
      'STORE_REFUSED',
      `${name} refused: ${text}.`,
      'Keep inputs, results and the number of open fires of a schedule smaller, or raise --max-request-bytes on each member: etcd takes 1.5 MB at a time.',
    ],
  ],
  [/too many operations/, (name, text) => ['STORE_REFUSED', `${name} refused: ${text}.`, REPORT]],
]

function otherWords({ code }: GrpcError, name: string, text: string): Words {
  if (code === UNIMPLEMENTED) {
    return ['STORE_UNSUPPORTED', `${name} does not know a request: ${text}.`, 'Use etcd 3.4 or later.']
  }
  if (REFUSALS.has(code)) return ['STORE_FAILED', `${name} refused a request: ${text}.`, REPORT]
  return [
    'STORE_UNREACHABLE',
    `${name} can't answer for now: ${text}.`,
    'Wait: the store goes on as soon as the cluster has a leader.',
  ]
}

export function closed(name: string): StoreError {
  return new StoreError('STORE_CLOSED', `${name} was closed.`, { hint: 'Open it again.' })
}

import type { ErrorCode } from '../../errors.ts'
import { CronceError } from '../../errors.ts'
import { StoreError } from '../store-error.ts'

/** How far a call had got when it failed. */
export type Progress =
  /** No statement has left this process. */
  | 'connecting'
  /** It was sent, on its own or as the last of a transaction: if it did not fail, it is committed. */
  | 'sent'
  /** It was sent within a transaction that its owner has yet to commit. */
  | 'in transaction'

/**
 * The SQLSTATE of the error, or `null` if it did not come from the server. Libraries wrap the errors of their drivers in
 * different ways.
 */
export function sqlStateOf(error: unknown): string | null {
  for (let at = error, depth = 0; isObject(at) && depth < 5; at = at.cause, depth++) {
    for (const code of [at.code, isObject(at.meta) ? at.meta.code : undefined]) {
      if (typeof code === 'string' && SQL_STATE.test(code)) return code
    }
  }
  return null
}

/** Few SQLSTATE classes begin with letters, but many codes of the system and of libraries do: EPIPE, P2010. */
const SQL_STATE = /^(?:[0-9][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/

/** Codes after which the outcome is unknown: the server ended the session, whatever it was about to answer. */
const ENDS_SESSION = /^(?:08|57P|25P0[34]|58|XX)/

/**
 * A standby returns these codes forever, while its successor may wait at the same address: 25006 for writes, 55000 for the
 * timeline of the log.
 */
const STANDBY = /^(?:25006|55000)$/

/** Whether a connection must not be used again after this error. */
export function breaksConnection(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === null || STANDBY.test(state) || ENDS_SESSION.test(state) || losesPreparation(error)
}

/** A pooler or the application dropped our prepared statement, or has one of that name: named statements do not work here. */
export function losesPreparation(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '26000' || state === '42P05'
}

/** Trying again would not help: the name, the password or the database is wrong. */
export function isHopeless(error: unknown): boolean {
  if (error instanceof CronceError) return true
  const state = sqlStateOf(error)
  if (state !== null) return /^(?:28|3D|42501)/.test(state)
  return !(error instanceof Error) || isInvalidUrl(error)
}

function isInvalidUrl(error: unknown): boolean {
  return isObject(error) && error.code === 'ERR_INVALID_URL'
}

/** The error in words of cronce, with the error of the driver as its cause. Errors of cronce are unchanged. */
export function translate(error: unknown, name: string, progress: Progress): CronceError {
  if (error instanceof CronceError) return error
  if (isInvalidUrl(error)) {
    return new StoreError('STORE_INVALID', `${name} is not a valid URL.`, {
      hint: 'Check the port, a number up to 65535, and percent-encode special characters in the password: @ is %40, / is %2F.',
      notApplied: true,
    })
  }
  const state = sqlStateOf(error)
  const [code, message, hint] = wordsFor(state, name, messageOf(error), progress)
  return new StoreError(code, message, {
    hint,
    cause: error,
    notApplied: wasNotApplied(error, state, progress),
  })
}

function wasNotApplied(error: unknown, state: string | null, progress: Progress): boolean {
  if (progress === 'connecting') return true
  // It failed in the transaction, or the session has ended without a commit.
  if (progress === 'in transaction') return true
  if (state === null) return false
  // Only a plain ERROR is sure to have been rolled back; severities are translated into the server's language.
  return !ENDS_SESSION.test(state) || (isObject(error) && error.severity === 'ERROR' && !/^(?:08|57P)/.test(state))
}

type Words = readonly [code: ErrorCode, message: string, hint: string]

function wordsFor(state: string | null, name: string, text: string, progress: Progress): Words {
  if (state === null) return wordsForLoss(name, text, progress)
  if (state === '57P03' || (progress === 'connecting' && /^(?:08|57P)/.test(state))) {
    return unreachable(name, text)
  }
  const [, words] = WORDS.find(([states]) => states.test(state)) ?? [null, refused]
  return words(name, text)
}

/** The server ended a session because its transaction was idle for too long. */
const IDLE_ENDED = /^25P03$/

export function isIdleEnd(error: unknown): boolean {
  return IDLE_ENDED.test(sqlStateOf(error) ?? '')
}

/** `limit`: as the server writes it, `15s`. */
export function idleEnded(limit: string, cause: unknown): StoreError {
  const [code, message, hint] = idleWords(limit.replace(/(?<=\d)(?=[a-z])/, ' '))
  return new StoreError(code, message, { hint, cause, notApplied: true })
}

function idleWords(limit: string): Words {
  const message = `The transaction was idle for more than ${limit}, and the server ended it.`
  return ['STORE_LOST', message, 'Compute first, open it last.']
}

/** What SQLSTATE codes mean for the user. The first match counts. */
const WORDS: readonly (readonly [states: RegExp, words: (name: string, text: string) => Words])[] = [
  [
    /^3D000$/,
    (name, text) => [
      'STORE_NOT_FOUND',
      `${name} can't be opened: ${text}.`,
      'Create it, or check its name in the URL.',
    ],
  ],
  [IDLE_ENDED, () => idleWords('its limit')],
  [/^(?:53300|53400)$/, fullOfConnections],
  [/^(?:08|57P|25P0[34])/, lost],
  [
    /^(?:40001|40P01|55P03)$/,
    (name, text) => ['STORE_CONFLICT', `${name} conflicted with another transaction: ${text}.`, 'Try again.'],
  ],
  [
    /^57014$/,
    (name, text) => [
      'STORE_TIMEOUT',
      `${name} cancelled a statement: ${text}.`,
      'Check for a low statement_timeout, or for a user or tool that cancels statements.',
    ],
  ],
  [
    STANDBY,
    (name, text) => [
      'STORE_READONLY',
      `${name} can't be written: ${text}.`,
      'Name the primary, not a standby; after a failover the store goes on by itself.',
    ],
  ],
  [
    /^28/,
    (name, text) => [
      'STORE_FORBIDDEN',
      `${name} refused: ${text}.`,
      /no encryption|SSL off/.test(text)
        ? 'If the server demands TLS, add ?sslmode=require to the URL; else check the user and pg_hba.conf.'
        : 'Check the user, its password and pg_hba.conf.',
    ],
  ],
  [
    /^42501$/,
    (name, text) => [
      'STORE_FORBIDDEN',
      `${name} refused: ${text}.`,
      'For instances and clients, give the role its rights: cronce migrate up --runtime ROLE, with the role that owns the tables. cronce migrate itself needs a role that may create them: grant create on database … to ROLE.',
    ],
  ],
  [
    /^42704$/,
    (name, text) => [
      'STORE_FAILED',
      `${name} refused a statement: ${text}.`,
      'Create the role first: create role … login.',
    ],
  ],
  [
    /^(?:42P01|3F000|42703|42883)$/,
    (name, text) => ['STORE_NOT_MIGRATED', `${name} lacks tables of this version: ${text}.`, 'Run cronce migrate up.'],
  ],
  [
    /^53100$/,
    (name) => ['STORE_FULL', `There is no space left for ${name}.`, 'Free some space: the store goes on by itself.'],
  ],
  [
    /^(?:22|54)/,
    (name, text) => [
      'STORE_REFUSED',
      `${name} refuses what it was sent: ${text}.`,
      'Report this: it should not happen.',
    ],
  ],
  [
    /^(?:26000|42P05)$/,
    (name, text) => [
      'STORE_FAILED',
      `${name} lost a prepared statement: ${text}.`,
      'Set prepare: false if there is a connection pooler in between.',
    ],
  ],
]

function refused(name: string, text: string): Words {
  return ['STORE_FAILED', `${name} refused a statement: ${text}.`, 'Report this: it should not happen.']
}

function wordsForLoss(name: string, text: string, progress: Progress): Words {
  return progress === 'connecting' ? unreachable(name, text) : lost(name, text)
}

function unreachable(name: string, text: string): Words {
  const [, hint] = CONNECT_HINTS.find(([pattern]) => pattern.test(text)) ?? []
  return [
    'STORE_UNREACHABLE',
    `${name} can't be reached: ${text}.`,
    hint ?? 'Check that the server runs, and its address.',
  ]
}

/** Messages of drivers about failed connections, and what helps. */
const CONNECT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/i, 'Take sslmode or ssl out of the URL, or write sslmode=disable: this server has no TLS.'],
  [
    /self.signed certificate|unable to verify|certificate/i,
    'Give the driver the certificate of the authority: sslrootcert=FILE.',
  ],
  [/\bport\b|BAD_PORT/i, 'Check the port in the URL: a number up to 65535, 5432 by default.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Check the name of the host in the URL.'],
]

function fullOfConnections(name: string, text: string): Words {
  return [
    'STORE_FULL_OF_CONNECTIONS',
    `${name} has no connection to spare: ${text}.`,
    'Raise max_connections or the size of the pool, or close unused connections. Within a transaction, a call without { tx } needs a second connection.',
  ]
}

function lost(name: string, text: string): Words {
  return ['STORE_LOST', `The connection to ${name} was lost: ${text}.`, 'Try again: the next call makes a new one.']
}

export function noConnection(name: string, text: string): StoreError {
  const [code, message, hint] = fullOfConnections(name, text)
  return new StoreError(code, message, { hint })
}

export function silent(name: string, timeoutMs: number, notApplied: boolean): StoreError {
  return new StoreError('STORE_SILENT', `${name} gave no answer within ${timeoutMs} ms.`, {
    hint: 'Check that the server is reachable and not overloaded.',
    notApplied,
  })
}

export function closed(name: string): StoreError {
  return new StoreError('STORE_CLOSED', `${name} was closed.`, { hint: 'Open it again.' })
}

// Without its full stop, since one is added.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}

interface ErrorLike {
  readonly code?: unknown
  readonly severity?: unknown
  readonly cause?: unknown
  /** Where Prisma puts the message of the server. */
  readonly meta?: unknown
}

function isObject(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null
}

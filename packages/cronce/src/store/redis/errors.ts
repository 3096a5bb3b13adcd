import type { ErrorCode } from '../../errors.ts'
import { CronceError } from '../../errors.ts'
import { counted } from '../../words.ts'
import { StoreError } from '../store-error.ts'

/** How far a call had got when it failed. */
export type Progress =
  /** No command has left this process. */
  | 'connecting'
  /** It may have reached the server. */
  | 'sent'

/**
 * The error prefix of the server, or `null` if the error did not come from the server. Before Redis 7, an error inside a script
 * follows the position in the script.
 */
export function replyCodeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const code = /^-?([A-Z][A-Z0-9_]+)(?: |$)/.exec(error.message)?.[1] ?? null
  if (code !== 'ERR') return code
  return /@user_script: ?\d+: -?([A-Z]{3,}) /.exec(error.message)?.[1] ?? code
}

/** Raised while the script ran: its earlier writes stay written. */
function isWithinScript(error: unknown): boolean {
  return error instanceof Error && /\bscript: [0-9a-f]{40}\b|user_script|running script/.test(error.message)
}

/** The server refuses all writes for now, and did so before the first: none of these can occur in the middle of a script. */
const REFUSES_WRITES = /^(?:READONLY|MISCONF|OOM|NOREPLICAS)$/

/** The command did not start. */
const REFUSES_ALL = /^(?:NOSCRIPT|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|CROSSSLOT|BUSY|NOAUTH|WRONGPASS)$/

/** Another server has the data, or will have it, while this one stays connected but useless. */
export function isElsewhere(error: unknown): boolean {
  return /^(?:READONLY|MASTERDOWN|CLUSTERDOWN|MOVED)$/.test(replyCodeOf(error) ?? '')
}

/** Trying again would not help: the name, the password or the address is wrong, or there is no client. */
export function isHopeless(error: unknown): boolean {
  if (error instanceof CronceError) return true
  return isAuthentication(error) || isNoDatabase(error) || isNoCluster(error) || !(error instanceof Error)
}

function isNoDatabase(error: unknown): boolean {
  return /^ERR (?:DB index|invalid DB index|SELECT is not allowed)/.test(messageOf(error))
}

function isNoCluster(error: unknown): boolean {
  return /^ERR This instance has cluster support disabled/.test(messageOf(error))
}

function isAuthentication(error: unknown): boolean {
  const code = replyCodeOf(error)
  if (/^(?:NOAUTH|WRONGPASS|NOPERM)$/.test(code ?? '')) return true
  return code === 'ERR' && /invalid password|without any password/.test(messageOf(error))
}

/** The error in words of cronce, with the error of the client as its cause. Errors of cronce are unchanged. */
export function translate(error: unknown, name: string, progress: Progress): CronceError {
  if (error instanceof CronceError) return error
  const reply = replyCodeOf(error)
  const [code, message, hint] = wordsFor(reply, name, error, progress)
  return new StoreError(code, message, {
    hint,
    cause: error,
    notApplied: progress === 'connecting' || wasRefused(error, reply),
  })
}

function wasRefused(error: unknown, reply: string | null): boolean {
  if (reply === null) return false
  if (REFUSES_WRITES.test(reply) || reply === 'CRONCEFORMAT') return true
  if (isWithinScript(error)) return false
  return REFUSES_ALL.test(reply) || reply === 'NOPERM' || /^ERR unknown command/.test(messageOf(error))
}

type Words = readonly [code: ErrorCode, message: string, hint: string]

function wordsFor(reply: string | null, name: string, error: unknown, progress: Progress): Words {
  const text = messageOf(error)
  if (isAuthentication(error)) {
    return [
      'STORE_FORBIDDEN',
      `${name} refused: ${text}.`,
      'Check the user and its password, and that it may use scripts, publish and subscribe, on keys and channels that begin with the prefix (cronce, unless you chose another).',
    ]
  }
  if (reply === null) return progress === 'connecting' ? unreachableWords(name, text) : lostWords(name, text)
  return REPLIES.get(reply)?.(name, text) ?? wordsForMessage(name, text, error)
}

const cannotAnswer = (name: string, text: string): Words => [
  'STORE_UNREACHABLE',
  `${name} can't answer for now: ${text}.`,
  'Wait: the store goes on by itself.',
]

/** What the server's error prefixes mean for the user. */
const REPLIES: ReadonlyMap<string, (name: string, text: string) => Words> = new Map<
  string,
  (name: string, text: string) => Words
>([
  ['LOADING', cannotAnswer],
  ['MASTERDOWN', cannotAnswer],
  ['CLUSTERDOWN', cannotAnswer],
  ['TRYAGAIN', cannotAnswer],
  ['ASK', cannotAnswer],
  [
    'READONLY',
    (name, text) => [
      'STORE_READONLY',
      `${name} can't be written: ${text}.`,
      'Name the primary, not a replica; after a failover the store goes on by itself.',
    ],
  ],
  ['CRONCEFORMAT', (name, text) => formatWords(name, Number(/CRONCEFORMAT (\d+)/.exec(text)?.[1]))],
  [
    'MISCONF',
    (name, text) => [
      'STORE_FULL',
      `${name} can't write to its disk: ${text}.`,
      'Free some space, or look at the log of the server: the store goes on by itself.',
    ],
  ],
  [
    'OOM',
    (name, text) => [
      'STORE_FULL',
      `${name} has no memory left: ${text}.`,
      'Raise maxmemory, or delete data that is not needed: the store then goes on by itself.',
    ],
  ],
  [
    'NOREPLICAS',
    (name, text) => [
      'STORE_NOT_REPLICATED',
      `${name} has too few replicas to write: ${text}.`,
      'Bring the replicas back, or lower min-replicas-to-write.',
    ],
  ],
  [
    'BUSY',
    (name, text) => [
      'STORE_TIMEOUT',
      `${name} is busy with a slow script: ${text}.`,
      'Find who runs it, and end it with SCRIPT KILL.',
    ],
  ],
  [
    'MOVED',
    (name, text) => [
      'STORE_INVALID',
      `${name} is one node of a cluster: ${text}.`,
      'Name it redis-cluster://host:port, or pass a client for clusters.',
    ],
  ],
])

/** For replies whose prefix says too little. */
function wordsForMessage(name: string, text: string, error: unknown): Words {
  if (isNoDatabase(error)) {
    return ['STORE_INVALID', `${name} has no such database: ${text}.`, 'Name one that it has: a cluster has 0 only.']
  }
  if (isNoCluster(error)) {
    return ['STORE_INVALID', `${name} is not a cluster.`, 'Name it redis://host:port, or pass a client for one server.']
  }
  if (/max number of clients/.test(text)) {
    return [
      'STORE_FULL_OF_CONNECTIONS',
      `${name} has no connection to spare: ${text}.`,
      'Raise maxclients, or close connections that are not needed.',
    ]
  }
  if (/string exceeds maximum allowed size/.test(text)) {
    return ['STORE_REFUSED', `${name} refuses what it was sent: ${text}.`, 'Report this: it should not happen.']
  }
  return ['STORE_FAILED', `${name} refused a command: ${text}.`, 'Report this: it should not happen.']
}

/** How keys and lines are laid out: see `lua/keys.lua`. Scripts refuse any other format. */
export const FORMAT = 2

export function formatError(name: string, format: number): StoreError {
  const [code, message, hint] = formatWords(name, format)
  return new StoreError(code, message, { hint, notApplied: true })
}

function formatWords(name: string, format: number): Words {
  return format > FORMAT
    ? [
        'STORE_SCHEMA_NEWER',
        `A newer version of cronce changed how it keeps data in ${name}: format ${format}, this version knows ${FORMAT}.`,
        'Deploy the newer version here too.',
      ]
    : [
        'STORE_SCHEMA_OLDER',
        `${name} has data of an earlier version of cronce: format ${format}, this version knows ${FORMAT}.`,
        'Delete its keys, or use another namespace or prefix: this version does not read the earlier format.',
      ]
}

function unreachableWords(name: string, text: string): Words {
  return ['STORE_UNREACHABLE', `${name} can't be reached: ${text}.`, 'Check that the server runs, and its address.']
}

function lostWords(name: string, text: string): Words {
  return ['STORE_LOST', `The connection to ${name} was lost: ${text}.`, 'Try again: the next call makes a new one.']
}

/** There was no connection within the time of a call. `error`: of the last attempt, if one has ended. */
export function unreachable(name: string, error: unknown, timeoutMs: number): CronceError {
  return translate(error ?? new Error(`no connection within ${timeoutMs} ms`), name, 'connecting')
}

export function silent(name: string, timeoutMs: number, notApplied: boolean): StoreError {
  return new StoreError('STORE_SILENT', `${name} gave no answer within ${timeoutMs} ms.`, {
    hint: 'Check that the server is reachable and not overloaded.',
    notApplied,
  })
}

export function notReplicated(name: string, wanted: number, acknowledged: number | null, cause?: unknown): StoreError {
  const found =
    acknowledged === null ? 'it could not tell how many replicas' : `${acknowledged} of ${counted(wanted, 'replica')}`
  return new StoreError('STORE_NOT_REPLICATED', `${name} wrote, but ${found} acknowledged it in time.`, {
    hint: 'Bring the replicas back, or ask for fewer.',
    notApplied: false,
    cause,
  })
}

export function closed(name: string, notApplied: boolean): StoreError {
  return new StoreError('STORE_CLOSED', `${name} was closed.`, { hint: 'Open it again.', notApplied })
}

export function invalid(message: string, hint: string): StoreError {
  return new StoreError('STORE_INVALID', message, { hint })
}

// Without its full stop, since one is added.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}

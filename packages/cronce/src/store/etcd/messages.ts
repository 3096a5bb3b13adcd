import { flag, id, integer, type Message, message, messages, type Schema, text } from './protobuf.ts'

// The messages of etcd's API v3 that are used here: rpc.proto and kv.proto of etcd 3.4.

const HEADER: Schema = { cluster_id: id(1), member_id: id(2), revision: integer(3), raft_term: integer(4) }
const PAIR: Schema = { key: text(1), mod_revision: integer(3), version: integer(4), value: text(5) }
const RANGE: Schema = {
  ...{ key: text(1), range_end: text(2), limit: integer(3), revision: integer(4), sort_order: integer(5) },
  ...{ sort_target: integer(6), keys_only: flag(8), count_only: flag(9) },
}
const RANGE_ANSWER: Schema = { header: message(1, () => HEADER), kvs: messages(2, () => PAIR), count: integer(4) }
const PUT: Schema = { key: text(1), value: text(2), lease: id(3) }
const DELETE: Schema = { key: text(1), range_end: text(2) }
const COMPARE: Schema = {
  ...{ result: integer(1), target: integer(2), key: text(3) },
  ...{ version: integer(4), create_revision: integer(5), mod_revision: integer(6), range_end: text(64) },
}
const OPERATION: Schema = {
  request_range: message(1, () => RANGE),
  request_put: message(2, () => PUT),
  request_delete_range: message(3, () => DELETE),
  request_txn: message(4, () => TRANSACTION),
}
const TRANSACTION: Schema = {
  compare: messages(1, () => COMPARE),
  success: messages(2, () => OPERATION),
  failure: messages(3, () => OPERATION),
}
const TRANSACTION_ANSWER: Schema = {
  header: message(1, () => HEADER),
  succeeded: flag(2),
  responses: messages(3, () => OPERATION_ANSWER),
}
const OPERATION_ANSWER: Schema = {
  response_range: message(1, () => RANGE_ANSWER),
  response_txn: message(4, () => TRANSACTION_ANSWER),
}
const LEASE: Schema = { header: message(1, () => HEADER), ID: id(2), TTL: integer(3) }
const WATCH: Schema = {
  create_request: message(1, () => ({ key: text(1), range_end: text(2), start_revision: integer(3) })),
}
const EVENT: Schema = { type: integer(1), kv: message(2, () => PAIR) }
const WATCH_ANSWER: Schema = {
  ...{ header: message(1, () => HEADER), created: flag(3), canceled: flag(4), compact_revision: integer(5) },
  events: messages(11, () => EVENT),
}
const STATUS: Schema = { header: message(1, () => HEADER), version: text(2), dbSize: integer(3), leader: id(4) }
const AUTHENTICATE: Schema = { name: text(1), password: text(2) }

export interface Method {
  readonly path: string
  readonly asks: Schema
  readonly answers: Schema
  /** It changes nothing, so it may be sent again after a lost answer. */
  readonly isRead: boolean
}

function method(path: string, asks: Schema, answers: Schema, isRead = false): Method {
  return { path: `/etcdserverpb.${path}`, asks, answers, isRead }
}

export const TXN: Method = method('KV/Txn', TRANSACTION, TRANSACTION_ANSWER)
/** A transaction without writes. */
export const READ: Method = method('KV/Txn', TRANSACTION, TRANSACTION_ANSWER, true)
export const GRANT: Method = method('Lease/LeaseGrant', { TTL: integer(1) }, LEASE)
export const KEEP_ALIVE: Method = method('Lease/LeaseKeepAlive', { ID: id(1) }, LEASE, true)
export const WATCHING: Method = method('Watch/Watch', WATCH, WATCH_ANSWER, true)
export const MAINTENANCE: Method = method('Maintenance/Status', {}, STATUS, true)
export const LOG_IN: Method = method('Auth/Authenticate', AUTHENTICATE, { token: text(2) }, true)

export interface Header {
  readonly cluster_id: string
  readonly revision: number
  readonly raft_term: number
}

export interface Pair {
  readonly key: string
  readonly mod_revision: number
  readonly version: number
  readonly value: string
}

export interface RangeAnswer {
  readonly kvs: readonly Pair[]
  readonly count: number
}

export interface TxnAnswer {
  readonly header: Header
  readonly succeeded: boolean
  readonly responses: readonly { readonly response_range?: RangeAnswer; readonly response_txn?: TxnAnswer }[]
}

export interface LeaseAnswer {
  readonly ID: string
  readonly TTL: number
}

export interface WatchAnswer {
  readonly canceled: boolean
  readonly created: boolean
  readonly compact_revision: number
  readonly events: readonly { readonly type: number; readonly kv: Pair }[]
}

export interface StatusAnswer {
  readonly version: string
  readonly dbSize: number
}

export type Operation = Message

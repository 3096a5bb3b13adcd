import { type JuteReader, JuteWriter } from './jute.ts'

/** Types of requests. */
export const OP = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getChildren: 8,
  sync: 9,
  ping: 11,
  check: 13,
  multi: 14,
  create2: 15,
  createContainer: 19,
  auth: 100,
  close: -11,
} as const

/** What the server answers instead of a result. */
export const ERROR = {
  badArguments: -8,
  unimplemented: -6,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidAcl: -114,
  authFailed: -115,
  sessionMoved: -118,
} as const

export class ZooKeeperError extends Error {
  readonly code: number

  constructor(code: number) {
    const name = Object.entries(ERROR).find(([, value]) => value === code)?.[0]
    super(name === undefined ? `error ${code}` : `${name} (${code})`)
    this.code = code
  }
}

export interface Stat {
  readonly createdBy: bigint
  /** By the leader's clock, when it was written last. */
  readonly modifiedAt: number
  readonly version: number
  /** The session that it ends with; 0: none. */
  readonly owner: bigint
}

export interface Node {
  readonly data: Buffer
  readonly stat: Stat
}

/** One request, and how its answer is read. */
export interface Request<Answer> {
  readonly type: number
  readonly body: Buffer
  readonly read: (reader: JuteReader) => Answer
}

/** An answer, or `null` if there is no such node. */
export type Maybe<Answer> = Answer | null

export type Operation =
  | { readonly op: 'create'; readonly path: string; readonly data: Buffer; readonly kind: NodeKind }
  | { readonly op: 'setData'; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly op: 'delete'; readonly path: string }
  | { readonly op: 'check'; readonly path: string; readonly version: number }

/** `container`: the server deletes it some time after its last child. */
export type NodeKind = 'persistent' | 'ephemeral' | 'container'

const FLAGS: Readonly<Record<NodeKind, number>> = { persistent: 0, ephemeral: 1, container: 4 }

export const ANY_VERSION = -1

const ALL_RIGHTS = 31

/** Who may read and write what is created: everyone, or the user that the session has authenticated. */
export type Access = 'everyone' | 'user'

export function sync(path: string): Request<null> {
  return { type: OP.sync, body: new JuteWriter().text(path).body, read: () => null }
}

export function getData(path: string, watch = false): Request<Node> {
  const body = new JuteWriter().text(path).bool(watch).body
  return { type: OP.getData, body, read: (reader) => ({ data: reader.bytes(), stat: readStat(reader) }) }
}

export function exists(path: string, watch = false): Request<Stat> {
  return { type: OP.exists, body: new JuteWriter().text(path).bool(watch).body, read: readStat }
}

export function getChildren(path: string): Request<string[]> {
  const body = new JuteWriter().text(path).bool(false).body
  return { type: OP.getChildren, body, read: (reader) => reader.list(() => reader.text()) }
}

export function create(path: string, data: Buffer, access: Access): Request<null> {
  const writer = new JuteWriter()
  writeCreate(writer, { op: 'create', path, data, kind: 'persistent' }, access)
  return { type: OP.create2, body: writer.body, read: () => null }
}

export function setData(path: string, data: Buffer): Request<Stat> {
  return { type: OP.setData, body: new JuteWriter().text(path).bytes(data).int(ANY_VERSION).body, read: readStat }
}

export const CLOSE: Request<null> = { type: OP.close, body: Buffer.alloc(0), read: () => null }
export const PING: Request<null> = { type: OP.ping, body: Buffer.alloc(0), read: () => null }

/** What a transaction answers: the stat of each node that it wrote, or why it wrote nothing. */
export type MultiAnswer = { readonly stats: readonly (Stat | null)[] } | { readonly code: number; readonly at: number }

const END = -1
const NO_ERROR = 0
/** Of operations beside the one that failed. */
const ROLLED_BACK: ReadonlySet<number> = new Set([NO_ERROR, -2])

/** All of them, or none. */
export function multi(operations: readonly Operation[], access: Access): Request<MultiAnswer> {
  const writer = new JuteWriter()
  for (const operation of operations) {
    writer.int(typeOf(operation)).bool(false).int(END)
    writeOperation(writer, operation, access)
  }
  writer.int(END).bool(true).int(END)
  return { type: OP.multi, body: writer.body, read: readMulti }
}

function typeOf(operation: Operation): number {
  if (operation.op !== 'create') return OP[operation.op]
  return operation.kind === 'container' ? OP.createContainer : OP.create2
}

function writeOperation(writer: JuteWriter, operation: Operation, access: Access): void {
  if (operation.op === 'create') writeCreate(writer, operation, access)
  else if (operation.op === 'setData') writer.text(operation.path).bytes(operation.data).int(operation.version)
  else if (operation.op === 'check') writer.text(operation.path).int(operation.version)
  else writer.text(operation.path).int(ANY_VERSION)
}

function writeCreate(
  writer: JuteWriter,
  { path, data, kind }: Operation & { readonly op: 'create' },
  access: Access,
): void {
  const [scheme, id] = access === 'user' ? ['auth', ''] : ['world', 'anyone']
  writer.text(path).bytes(data).int(1).int(ALL_RIGHTS).text(scheme!).text(id!).int(FLAGS[kind])
}

function readMulti(reader: JuteReader): MultiAnswer {
  const stats: (Stat | null)[] = []
  let failed: { code: number; at: number } | null = null
  for (;;) {
    const type = reader.int()
    const isEnd = reader.bool()
    reader.int()
    if (isEnd) return failed ?? { stats }
    if (type === END) {
      const code = reader.int()
      if (!ROLLED_BACK.has(code)) failed ??= { code, at: stats.length }
      stats.push(null)
    } else stats.push(readResult(reader, type))
  }
}

function readResult(reader: JuteReader, type: number): Stat | null {
  if (type === OP.setData) return readStat(reader)
  // A server may answer a creation with the path alone.
  if (type === OP.create) reader.text()
  if (type !== OP.create2 && type !== OP.createContainer) return null
  reader.text()
  return readStat(reader)
}

function readStat(reader: JuteReader): Stat {
  const createdBy = reader.long()
  reader.long()
  reader.long()
  const modifiedAt = Number(reader.long())
  const version = reader.int()
  reader.int()
  reader.int()
  const owner = reader.long()
  reader.int()
  reader.int()
  reader.long()
  return { createdBy, modifiedAt, version, owner }
}

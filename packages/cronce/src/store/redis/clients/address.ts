import { invalid } from '../errors.ts'

/** The address of a server, from a URL. */
export interface Address {
  readonly isCluster: boolean
  readonly isEncrypted: boolean
  /** At least one; several for a cluster. Empty: a Unix socket. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly path: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
}

const FORMS = 'Write redis://user:password@host:6379/0, rediss:// for TLS, or redis-cluster://host:6379,host:6379.'

const PARTS =
  /^(?<scheme>rediss?|rediss?-cluster|redis\+unix|unix):\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^/?#]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/

export function parseAddress(url: string): Address {
  const parts = PARTS.exec(url)?.groups
  if (parts === undefined) throw invalid('This is not a URL of a Redis server.', FORMS)
  const { scheme = '', user, password, hosts = '', path = '', query } = parts
  const isSocket = scheme.endsWith('unix')
  const { db, ...unknown } = Object.fromEntries(new URLSearchParams(query))
  const [other] = Object.keys(unknown)
  if (other !== undefined) throw invalid(`The URL of the Redis has an unknown option ${other}.`, FORMS)
  const database = db ?? (isSocket ? '0' : path.slice(1) || '0')
  if (!/^\d{1,5}$/.test(database)) throw invalid('The URL of the Redis names no number of a database.', FORMS)
  const isCluster = scheme.endsWith('-cluster')
  if (isCluster && Number(database) !== 0) throw invalid('A cluster has the database 0 only.', FORMS)
  return {
    isCluster,
    isEncrypted: scheme.startsWith('rediss'),
    nodes: isSocket ? [] : hosts.split(',').map(parseNode),
    path: isSocket ? decode(path) : undefined,
    username: user ? decode(user) : undefined,
    password: password ? decode(password) : undefined,
    database: Number(database),
  }
}

function parseNode(text: string): { readonly host: string; readonly port: number } {
  const node = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d{1,5}))?$/.exec(text)?.groups
  if (node === undefined) throw invalid('The URL of the Redis has a host that is none.', FORMS)
  const { v6, name, port = '6379' } = node
  return { host: v6 || name || 'localhost', port: Number(port) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('The URL of the Redis has a % that is not part of an escape.', FORMS)
  }
}

import { parseClusterUrl, type User } from '../kv/address.ts'
import { StoreError } from '../store-error.ts'

const DEFAULT_PORT = 2181

export interface Server {
  readonly host: string
  readonly port: number
}

export interface Address {
  readonly servers: readonly Server[]
  readonly isSecure: boolean
  readonly user: User | null
}

/** `zookeeper://[user:password@]host[:port][,host[:port]…]`; `zookeepers://` for TLS. */
export function parseUrl(url: string): Address {
  const address = parseClusterUrl('zookeeper', url)
  if (address === null) throw invalidUrl()
  const { hosts, isSecure, user } = address
  return { servers: hosts.map(serverOf), isSecure, user }
}

/** `host`, `host:port` or `[address]:port`. */
export function serverOf(text: string): Server {
  const url = URL.parse(`tcp://${text}`)
  const isSound = url !== null && url.hostname !== '' && url.pathname === '' && url.username === '' && url.search === ''
  if (!isSound || url.hash !== '') throw invalidServer()
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: url.port === '' ? DEFAULT_PORT : Number(url.port) }
}

function invalidUrl(): StoreError {
  return new StoreError('STORE_INVALID', 'This is not a URL of a ZooKeeper ensemble.', {
    hint: 'Write zookeeper://host:2181, zookeeper://user:password@host1:2181,host2:2181, or zookeepers://… for TLS.',
  })
}

function invalidServer(): StoreError {
  return new StoreError('STORE_INVALID', 'A server of ZooKeeper is not a host with a port.', {
    hint: "Write servers: ['host:2181']; user and password are options of their own.",
  })
}

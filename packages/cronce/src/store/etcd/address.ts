import { parseClusterUrl, type User } from '../kv/address.ts'
import { StoreError } from '../store-error.ts'

const DEFAULT_PORT = '2379'

export interface Address {
  readonly endpoints: readonly string[]
  readonly user: User | null
}

/** `etcd://[user:password@]host[:port][,host[:port]…]`; `etcds://` for TLS. */
export function parseUrl(url: string): Address {
  const address = parseClusterUrl('etcd', url)
  if (address === null) throw invalidUrl()
  const scheme = address.isSecure ? 'https' : 'http'
  return { endpoints: address.hosts.map((host) => endpointOf(`${scheme}://${host}`)), user: address.user }
}

/** An origin, with its port. */
export function endpointOf(endpoint: string): string {
  const url = URL.parse(endpoint)
  const isSound = url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname)
  if (!isSound || url.username !== '' || url.search !== '' || url.hash !== '') throw invalidEndpoint()
  // The default ports of HTTP are none that etcd listens to.
  const port = url.port === '' && !/:(80|443)\/?$/.test(endpoint) ? DEFAULT_PORT : url.port
  return port === '' ? url.origin : `${url.protocol}//${url.hostname}:${port}`
}

function invalidUrl(): StoreError {
  return new StoreError('STORE_INVALID', 'This is not a URL of an etcd cluster.', {
    hint: 'Write etcd://host:2379, etcd://user:password@host1:2379,host2:2379, or etcds://… for TLS.',
  })
}

function invalidEndpoint(): StoreError {
  return new StoreError('STORE_INVALID', 'An endpoint of etcd is not a URL of a host.', {
    hint: "Write endpoints: ['http://host:2379'], or https:// for TLS; user and password are options of their own.",
  })
}

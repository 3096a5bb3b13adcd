import { BlockList, isIP, isIPv6 } from 'node:net'

/** Networks that are not routed on the public internet, and cloud services that answer only from inside. */
const REFUSED_V4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this host
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's host agent, on an address that looks public
  ['169.254.0.0', 16], // link-local, and the metadata services of most clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments, and Oracle's metadata
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/** Public unicast is all in here: loopback, unique local, link-local, mapped, NAT64 and multicast addresses are not. */
const PUBLIC_V6 = ['2000::', 3] as const

const REFUSED_V6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: leads to any IPv4 address
  ['3ffe::', 16], // given back
  ['3fff::', 20], // documentation
]

const refused = new BlockList()
for (const [network, prefix] of REFUSED_V4) refused.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of REFUSED_V6) refused.addSubnet(network, prefix, 'ipv6')
const publicV6 = new BlockList()
publicV6.addSubnet(...PUBLIC_V6, 'ipv6')

/** Whether this is an address that can be reached from the internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv6(address))
    return !address.includes('%') && publicV6.check(address, 'ipv6') && !refused.check(address, 'ipv6')
  return isIP(address) === 4 && !refused.check(address, 'ipv4')
}

/** What may be called although it is not public. */
export interface Exceptions {
  readonly all: boolean
  /** Hosts as they stand in a URL, `host` or `host:port`: whatever they resolve to. */
  readonly hosts: ReadonlySet<string>
  /** Addresses, whatever name leads there. */
  readonly networks: BlockList
}

/** `wrong`: an entry that is neither a host, a host with a port, nor a network. */
export function readExceptions(allow: boolean | readonly string[]): Exceptions | { readonly wrong: string } {
  const hosts = new Set<string>()
  const networks = new BlockList()
  if (typeof allow === 'boolean') return { all: allow, hosts, networks }
  for (const entry of allow) {
    const host = readHost(entry)
    if (host !== null) hosts.add(host)
    else if (!addNetwork(networks, entry)) return { wrong: entry }
  }
  return { all: false, hosts, networks }
}

export function isAllowedHost(exceptions: Exceptions, url: URL): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return exceptions.all || exceptions.hosts.has(url.hostname) || exceptions.hosts.has(`${url.hostname}:${port}`)
}

export function isAllowedAddress(exceptions: Exceptions, address: string): boolean {
  if (exceptions.all || isPublicAddress(address)) return true
  const family = isIP(address)
  return family !== 0 && !address.includes('%') && exceptions.networks.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** In the spelling that the URL parser gives it, so that no other spelling of the same host differs. */
function readHost(entry: string): string | null {
  if (/[/?#@*\\\s]/.test(entry)) return null
  const bracketed = isIPv6(entry) ? `[${entry}]` : entry
  if (!URL.canParse(`http://${bracketed}`)) return null
  const { hostname } = new URL(`http://${bracketed}`)
  // Read off the text, since the parser drops the port of its protocol.
  const port = /:(\d{1,5})$/.exec(bracketed.replace(/^\[[^\]]*\]/, ''))?.[1]
  return port === undefined ? hostname : `${hostname}:${Number(port)}`
}

function addNetwork(networks: BlockList, entry: string): boolean {
  const [address = '', prefix = '', ...rest] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false
  if (Number(prefix) > (family === 6 ? 128 : 32)) return false
  networks.addSubnet(address, Number(prefix), family === 6 ? 'ipv6' : 'ipv4')
  return true
}

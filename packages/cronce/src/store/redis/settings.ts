import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { FORMAT, formatError } from './errors.ts'
import type { Link, WaitOptions } from './link.ts'

const OLDEST = [6, 2] as const

interface Judged {
  readonly wait: WaitOptions | undefined
  readonly warn: OpenOptions['warn']
}

/** Reports, when the store is opened, what this server can't promise. Uses only INFO, which every provider allows. */
export async function checkSettings(link: Link, key: string, { wait, warn }: Judged): Promise<void> {
  const server = await infoOf(link, key, 'server')
  checkVersion(link.name, server)
  await checkFormat(link, key)
  const memory = await infoOf(link, key, 'memory')
  const policy = memory.get('maxmemory_policy')
  // The other policies evict only keys with a time to live, and these have none.
  if (policy?.startsWith('allkeys-') && memory.get('maxmemory') !== '0') {
    warn(
      'STORE_EVICTS',
      `${link.name} throws away data when its memory is full (maxmemory-policy ${policy}): a fire whose record is gone runs again. ` +
        'Set maxmemory-policy to noeviction, or give cronce its own server.',
    )
  }
  const persistence = await infoOf(link, key, 'persistence')
  if (persistence.get('aof_enabled') === '0') {
    warn(
      'STORE_NOT_DURABLE',
      `${link.name} keeps no log of its writes (appendonly no): a restart forgets what ran, and it runs again. Set appendonly to yes.`,
    )
  }
  const replication = await infoOf(link, key, 'replication')
  const replicas = Number(replication.get('connected_slaves') ?? 0)
  if (replicas > 0 && wait === undefined) {
    warn(
      'STORE_REPLICAS_ASYNC',
      `${link.name} has ${replicas === 1 ? 'a replica that does' : `${replicas} replicas that do`} not confirm writes: a failover may lose the latest, and fires of ` +
        'that moment run again if no instance that ran them is still alive. Set wait: { replicas: 1, timeout: 1000 } to have them confirmed.',
    )
  }
}

function checkVersion(name: string, server: ReadonlyMap<string, string>): void {
  // Valkey reports here which Redis it is compatible with.
  const version = server.get('redis_version')
  if (version === undefined) return
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return
  throw new StoreError('STORE_UNSUPPORTED', `${name} is Redis ${version}.`, {
    hint: `Use ${OLDEST.join('.')} or later, or Valkey.`,
  })
}

async function checkFormat(link: Link, key: string): Promise<void> {
  const format = Number((await link.command(key, ['HGET', key, 'format'])) ?? FORMAT)
  if (format !== FORMAT) throw formatError(link.name, format)
}

async function infoOf(link: Link, key: string, section: string): Promise<ReadonlyMap<string, string>> {
  const text = String(await link.command(key, ['INFO', section]))
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}

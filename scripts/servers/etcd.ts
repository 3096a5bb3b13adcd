import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK, pickFreePorts } from './ports.ts'
import { type Server, type ServerPlan, startServer } from './server.ts'

export interface EtcdOptions {
  /** Further flags, for example `['--snapshot-count=100']`. */
  readonly flags?: readonly string[]
}

/** An etcd cluster of one. */
export async function startEtcd(options: EtcdOptions = {}, locate: Obtain = obtain): Promise<Server> {
  return startServer(etcdPlan(options, await locate('etcd')))
}

const MEMBERS = 3

/** Three members on loopback. Each can be killed and restarted by itself; two of them are enough. */
export class EtcdCluster {
  readonly members: readonly Server[]

  constructor(members: readonly Server[]) {
    this.members = members
  }

  get urls(): readonly string[] {
    return this.members.map(({ url }) => url)
  }

  /** The leader, as the members report it. */
  async leader(): Promise<Server> {
    for (;;) {
      for (const member of this.members) {
        const status = await ask(`${member.url}/v3/maintenance/status`, 'POST')
        const { header, leader } = status === '' ? {} : JSON.parse(status)
        if (leader !== undefined && header.member_id === leader) return member
      }
      await sleep(100)
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

export async function startEtcdCluster(options: EtcdOptions = {}, locate: Obtain = obtain): Promise<EtcdCluster> {
  const file = await locate('etcd')
  // All must know the ports of all before the first one starts.
  const ports = await pickFreePorts(2 * MEMBERS)
  const pairs = Array.from({ length: MEMBERS }, (_, index) => ports.slice(2 * index, 2 * index + 2))
  const id = randomUUID()
  const cluster = pairs.map(([, peer], index) => `m${index}-${id}=${urlOf(peer)}`).join()
  const starts = pairs.map((pair, index) =>
    startServer(etcdPlan(options, file, { name: `m${index}-${id}`, cluster, token: id }), async () => pair),
  )
  const members = (await Promise.allSettled(starts)).flatMap((start) =>
    start.status === 'fulfilled' ? [start.value] : [],
  )
  try {
    await Promise.all(starts)
    return new EtcdCluster(members)
  } catch (error) {
    await Promise.all(members.map((member) => member.stop()))
    throw error
  }
}

interface Member {
  readonly name: string
  readonly cluster?: string
  readonly token?: string
}

function urlOf(port: number | undefined): string {
  return `http://${LOOPBACK}:${port}`
}

function etcdPlan(
  options: EtcdOptions,
  file: string,
  { name, cluster, token }: Member = { name: `cronce-${randomUUID()}` },
): ServerPlan {
  return {
    name: 'etcd',
    portCount: 2,
    endSignal: 'SIGKILL', // One process, files only: nothing to hand back to the system.
    restartSignal: 'SIGTERM',
    prepare: async () => {},
    command: async ([client, peer], directory) => {
      const flags = {
        name,
        'data-dir': `${directory}/data`,
        'listen-client-urls': urlOf(client),
        'advertise-client-urls': urlOf(client),
        'listen-peer-urls': urlOf(peer),
        'initial-advertise-peer-urls': urlOf(peer),
        'initial-cluster': cluster ?? `${name}=${urlOf(peer)}`,
        ...(token === undefined ? {} : { 'initial-cluster-token': token }),
      }
      const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
      return { file, args: [...args, ...(options.flags ?? [])] }
    },
    // The member's name distinguishes it from another etcd on the same port; healthy means that a leader exists.
    isReady: async ([client]) => {
      const members = await ask(`${urlOf(client)}/v3/cluster/member/list`, 'POST')
      return members.includes(`"${name}"`) && (await ask(`${urlOf(client)}/health`, 'GET')).includes('"true"')
    },
    url: urlOf,
  }
}

/** The body of a good answer, otherwise nothing. An agent of its own, because the default one may use a proxy. */
function ask(url: string, method: 'GET' | 'POST'): Promise<string> {
  return new Promise((resolve) => {
    const call = request(url, { method, agent: new Agent(), signal: AbortSignal.timeout(2_000) })
    call.once('error', () => resolve(''))
    call.once('response', (response) => {
      text(response).then(
        (body) => resolve(response.statusCode === 200 ? body : ''),
        () => resolve(''),
      )
    })
    call.end(method === 'POST' ? '{}' : undefined)
  })
}

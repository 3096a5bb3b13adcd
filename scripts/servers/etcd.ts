import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK } from './ports.ts'
import { type Server, type ServerPlan, startServer } from './server.ts'

export interface EtcdOptions {
  /** Further flags, for example `['--snapshot-count=100']`. */
  readonly flags?: readonly string[]
}

/** An etcd cluster of one. */
export async function startEtcd(options: EtcdOptions = {}, locate: Obtain = obtain): Promise<Server> {
  return startServer(etcdPlan(options, await locate('etcd')))
}

function etcdPlan(options: EtcdOptions, file: string): ServerPlan {
  const name = `cronce-${randomUUID()}`
  const url = (port: number | undefined) => `http://${LOOPBACK}:${port}`
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
        'listen-client-urls': url(client),
        'advertise-client-urls': url(client),
        'listen-peer-urls': url(peer),
        'initial-advertise-peer-urls': url(peer),
        'initial-cluster': `${name}=${url(peer)}`,
      }
      const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
      return { file, args: [...args, ...(options.flags ?? [])] }
    },
    // The member's name tells it from another etcd on the same port; being healthy means it has elected itself.
    isReady: async ([client]) => {
      const members = await ask(`${url(client)}/v3/cluster/member/list`, 'POST')
      return members.includes(`"${name}"`) && (await ask(`${url(client)}/health`, 'GET')).includes('"true"')
    },
    url,
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

import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Obtain, obtain } from './obtain.ts'
import { LOOPBACK, pickFreePorts } from './ports.ts'
import { type Server, type ServerPlan, startServer } from './server.ts'

const SERVERS = 3
/** Sessions end at a multiple of this. */
const TICK_MS = 500
const JARS = [
  ...[
    'zookeeper',
    'zookeeper-jute',
    'slf4j-api',
    'slf4j-nop',
    'netty-all',
    'snappy-java',
    'metrics-core',
    'commons-cli',
  ],
].map((name) => `/usr/share/java/${name}.jar`)
const MAIN = 'org.apache.zookeeper.server.quorum.QuorumPeerMain'

/** A ZooKeeper of one server. */
export async function startZooKeeper(locate: Obtain = obtain): Promise<Server> {
  return startServer(zooKeeperPlan(await java(locate)))
}

/** Three servers on loopback. Each can be killed and restarted by itself; two of them are enough. */
export class ZooKeeperEnsemble {
  readonly members: readonly Server[]

  constructor(members: readonly Server[]) {
    this.members = members
  }

  get addresses(): readonly string[] {
    return this.members.map(({ port }) => `${LOOPBACK}:${port}`)
  }

  async leader(): Promise<Server> {
    for (;;) {
      for (const member of this.members) {
        if ((await ask(member.port)).includes('Mode: leader')) return member
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

export async function startZooKeeperEnsemble(locate: Obtain = obtain): Promise<ZooKeeperEnsemble> {
  const file = await java(locate)
  // All must know the ports of all before the first one starts.
  const ports = await pickFreePorts(3 * SERVERS)
  const triples = Array.from({ length: SERVERS }, (_, index) => ports.slice(3 * index, 3 * index + 3))
  const lines = triples.map(([, peer, election], index) => `server.${index + 1}=${LOOPBACK}:${peer}:${election}`)
  const starts = triples.map((triple, index) =>
    startServer(zooKeeperPlan(file, { id: index + 1, lines }), async () => triple),
  )
  const members = (await Promise.allSettled(starts)).flatMap((start) =>
    start.status === 'fulfilled' ? [start.value] : [],
  )
  try {
    await Promise.all(starts)
    return new ZooKeeperEnsemble(members)
  } catch (error) {
    await Promise.all(members.map((member) => member.stop()))
    throw error
  }
}

/** The package brings the server as a library, and a Java that runs it. */
async function java(locate: Obtain): Promise<string> {
  if (!existsSync(JARS[0]!)) await locate('zookeeper')
  return locate('java')
}

function zooKeeperPlan(file: string, member?: { readonly id: number; readonly lines: readonly string[] }): ServerPlan {
  return {
    name: 'zookeeper',
    portCount: member === undefined ? 1 : 3,
    endSignal: 'SIGKILL',
    restartSignal: 'SIGTERM',
    prepare: async () => {},
    command: async ([client], directory) => {
      const settings = {
        tickTime: TICK_MS,
        dataDir: directory,
        clientPort: client,
        clientPortAddress: LOOPBACK,
        maxClientCnxns: 0,
        minSessionTimeout: 2 * TICK_MS,
        maxSessionTimeout: 86_400_000,
        ...(member === undefined ? {} : { initLimit: 10, syncLimit: 4 }),
      }
      if (member !== undefined) writeFileSync(`${directory}/myid`, String(member.id))
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
      writeFileSync(`${directory}/zoo.cfg`, [...lines, ...(member?.lines ?? []), ''].join('\n'))
      const flags = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dzookeeper.admin.enableServer=false']
      return { file, args: [...flags, '-cp', JARS.join(':'), MAIN, `${directory}/zoo.cfg`] }
    },
    // Answers only when it serves clients: alone, or with a leader.
    isReady: async ([client]) => /^Mode: (standalone|leader|follower)$/m.test(await ask(client!)),
    url: (port) => `zookeeper://${LOOPBACK}:${port}`,
  }
}

/** What `srvr` answers, or nothing. */
async function ask(port: number): Promise<string> {
  const socket = connect({ host: LOOPBACK, port })
  socket.setTimeout(2_000, () => socket.destroy())
  socket.write('srvr')
  try {
    return await text(socket)
  } catch {
    return ''
  }
}

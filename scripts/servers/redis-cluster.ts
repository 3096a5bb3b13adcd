import { ServerError } from './errors.ts'
import { type Obtain, obtain } from './obtain.ts'
import { isFree, LOOPBACK, LOWEST, pickFreePorts } from './ports.ts'
import { type RedisOptions, redisPlan } from './redis.ts'
import { redisCommand, redisText } from './redis-command.ts'
import { type Server, startServer } from './server.ts'
import { waitUntil } from './wait.ts'

export interface RedisClusterOptions extends RedisOptions {
  /** How many servers share the slots, in equal ranges. @default 3 */
  readonly nodes?: number
}

export const SLOTS = 16_384
/** Cluster nodes talk to each other on the client port plus this number. Only 7.0 and later can change it. */
const BUS_DISTANCE = 10_000
const TOGETHER_LIMIT_MS = 60_000
const MIGRATE_LIMIT_MS = 10_000

/** A Redis Cluster without replicas: the slots of a node that is down are unavailable. */
export class RedisCluster {
  /** Each can be killed and restarted by itself. The first has the lowest slots. */
  readonly nodes: readonly Server[]

  constructor(nodes: readonly Server[]) {
    this.nodes = nodes
  }

  /** All nodes, as cluster clients want them. */
  get urls(): readonly string[] {
    return this.nodes.map(({ url }) => url)
  }

  async slotOf(key: string): Promise<number> {
    return Number(await Promise.any(this.nodes.map((node) => redisCommand(node, 'CLUSTER', 'KEYSLOT', key))))
  }

  /** The node that reports this slot as its own. */
  async ownerOf(slot: number): Promise<Server> {
    for (const node of this.nodes) {
      const nodes = await redisText(node, 'CLUSTER', 'NODES').catch(() => '')
      if (ownSlots(nodes).some(([first, last]) => first <= slot && slot <= last)) return node
    }
    throw new ServerError('COMMAND_FAILED', `No node has the slot ${slot}.`)
  }

  /** Moves a slot with its keys to another node. Clients that ask the old node afterwards get MOVED. */
  async moveSlot(slot: number, to: Server): Promise<void> {
    const { finish } = await this.beginMove(slot, to)
    await finish()
  }

  /**
   * The first half of a move: the slot is open at both ends, and nodes answer ASK and TRYAGAIN, until `finish` has
   * moved the keys.
   */
  async beginMove(slot: number, to: Server): Promise<{ finish(): Promise<void> }> {
    const from = await this.ownerOf(slot)
    if (from === to) return { finish: async () => {} }
    const [fromId, toId] = await Promise.all([from, to].map((node) => redisText(node, 'CLUSTER', 'MYID')))
    await redisCommand(to, 'CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', fromId!)
    await redisCommand(from, 'CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', toId!)
    return {
      finish: async () => {
        await moveKeys(slot, from, to)
        // The new owner first: otherwise the slot would have no owner for a moment.
        await redisCommand(to, 'CLUSTER', 'SETSLOT', `${slot}`, 'NODE', toId!)
        await redisCommand(from, 'CLUSTER', 'SETSLOT', `${slot}`, 'NODE', toId!)
      },
    }
  }

  /** Until every node that should be up reports a healthy cluster. */
  async isWell(nodes = this.nodes): Promise<void> {
    await areTogether(nodes, this.nodes.length)
  }

  /** End all nodes and remove their directories. Harmless when called again. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** Servers that share 16,384 slots, all on loopback. Ready when each of them reports it. */
export async function startRedisCluster(
  options: RedisClusterOptions = {},
  locate: Obtain = obtain,
): Promise<RedisCluster> {
  const { nodes: count = 3, ...rest } = options
  const file = await locate('redis')
  const starts = Array.from({ length: count }, () => startServer(nodePlan(rest, file), pickNodePorts))
  const nodes = (await Promise.allSettled(starts)).flatMap((start) =>
    start.status === 'fulfilled' ? [start.value] : [],
  )
  try {
    // Throws why one did not start, if one did not.
    await Promise.all(starts)
    await join(nodes)
    await areTogether(nodes, count)
    return new RedisCluster(nodes)
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()))
    throw error
  }
}

function nodePlan(options: RedisOptions, file: string): ReturnType<typeof redisPlan> {
  const plan = redisPlan(options, file)
  return {
    ...plan,
    portCount: 2,
    command: async (ports, directory) => {
      const { file, args } = await plan.command(ports, directory)
      const cluster = {
        'cluster-enabled': 'yes',
        'cluster-announce-ip': LOOPBACK,
        // A node that is down is noticed in seconds, and a busy machine is not taken for one.
        'cluster-node-timeout': '4000',
      }
      const first = Object.entries(cluster).flatMap(([name, value]) => [`--${name}`, value])
      // What a test asks for comes last, and so wins.
      return { file, args: [...first, ...args] }
    },
  }
}

/** Both must be free, and both below the ports that outgoing connections get. */
async function pickNodePorts(): Promise<readonly number[]> {
  for (;;) {
    const [bus] = await pickFreePorts(1)
    const port = bus! - BUS_DISTANCE
    if (port >= LOWEST && (await isFree(port))) return [port, bus!]
  }
}

/** Distributes the slots, and introduces all nodes to each other. */
async function join(nodes: readonly Server[]): Promise<void> {
  const edges = Array.from({ length: nodes.length + 1 }, (_, index) => Math.floor((index * SLOTS) / nodes.length))
  for (const [index, node] of nodes.entries()) {
    // Different from the start: nodes of equal epochs have to quarrel about it first.
    await redisCommand(node, 'CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`)
    const slots = Array.from({ length: edges[index + 1]! - edges[index]! }, (_, slot) => `${edges[index]! + slot}`)
    await redisCommand(node, 'CLUSTER', 'ADDSLOTS', ...slots)
  }
  const [first, ...others] = nodes
  for (const node of others) await redisCommand(node, 'CLUSTER', 'MEET', LOOPBACK, `${first!.port}`)
}

async function areTogether(nodes: readonly Server[], known: number): Promise<void> {
  const signs = ['cluster_state:ok', `cluster_slots_ok:${SLOTS}`, `cluster_known_nodes:${known}`]
  const isWell = async (node: Server) => {
    const info = (await redisText(node, 'CLUSTER', 'INFO').catch(() => '')).split('\r\n')
    return signs.every((sign) => info.includes(sign))
  }
  const areAllWell = async () => (await Promise.all(nodes.map(isWell))).every(Boolean)
  if (await waitUntil(areAllWell, TOGETHER_LIMIT_MS)) return
  throw new ServerError('SERVER_UNREADY', `The nodes of the cluster were not together in ${TOGETHER_LIMIT_MS} ms.`)
}

/** The node's own ranges in its list of all nodes. Slots that are being moved are in brackets. */
function ownSlots(nodes: string): readonly (readonly [number, number])[] {
  const own = nodes.split('\n').find((line) => line.split(' ')[2]?.includes('myself'))
  const ranges = own?.split(' ').slice(8) ?? []
  return ranges
    .filter((range) => !range.startsWith('['))
    .map((range) => {
      const [first, last = first] = range.split('-').map(Number)
      return [first!, last!]
    })
}

async function moveKeys(slot: number, from: Server, to: Server): Promise<void> {
  while (true) {
    const keys = await redisCommand(from, 'CLUSTER', 'GETKEYSINSLOT', `${slot}`, '100')
    if (!Array.isArray(keys) || keys.length === 0) return
    const limit = `${MIGRATE_LIMIT_MS}`
    await redisCommand(from, 'MIGRATE', LOOPBACK, `${to.port}`, '', '0', limit, 'KEYS', ...keys.map(String))
  }
}

import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import type { Disturbance } from './disturb.ts'
import { createNode, type Node, type NodeParts } from './node.ts'
import { DEFAULT_APP, jobsOf } from './scenario.ts'
import type { Spells } from './spells.ts'

/** The nodes: each place has one process after the other. */
export interface Stage {
  /** The node that is up in each place. */
  readonly nodes: readonly (Node | null)[]
  /** All that there ever were. */
  readonly all: readonly Node[]
  /** What is wrong with the connections of all, also of those to come. */
  readonly everywhere: Set<Disturbance>
  start(place: number): void
  /** Ends as by kill -9, and restarts after a while. */
  crash(place: number, downMs: number): void
  crashLater(place: number, deliveries: number, downMs: number): void
  crashAt(place: number, point: SyncPoint, downMs: number): void
  /** It is asked to stop, and comes back after a while. */
  stop(place: number, downMs: number): void
  pause(place: number, forMs: number, how: 'stopped' | 'suspended'): void
  pauseAt(place: number, point: SyncPoint, forMs: number, how: 'stopped' | 'suspended'): void
  stepWall(place: number, byMs: number): void
  /** Peers take the process for dead, although it lives. */
  loseSession(place: number, forMs: number, isTold: boolean): void
  setRelease(place: number, release: number): void
  /** The process ends, and no other one starts in its place. */
  vanish(place: number, how: 'stop' | 'crash'): void
  /** A process of this release starts in a place that was left empty. */
  appear(place: number, release: number): void
  /** A process of the release of this place calls `runDue`, and is killed if it has not ended after this long. */
  call(place: number, killedAfterMs: number | null): void
  /** Ends all faults and starts all nodes. */
  heal(): void
  /** All that are up stop, calls of `runDue` included, and none comes back. */
  leave(): Promise<readonly Node[]>
  /** Resolves when no process is held up, by a handler that blocks it. */
  awake(): Promise<unknown>
}

export function createStage(parts: NodeParts, spells: Spells): Stage {
  const { world, scenario } = parts
  const { recorder, stopping, count } = parts.place
  const everywhere = new Set<Disturbance>()
  const nodes: (Node | null)[] = scenario.nodes.map(() => null)
  const releases = scenario.nodes.map(({ release = 0 }) => release)
  const isEmpty = scenario.nodes.map(() => false)
  const lives = scenario.nodes.map(() => 0)
  const all: Node[] = []
  /** Faults that wait for the node in that place to reach the point. */
  const ambushes = scenario.nodes.map(() => new Map<SyncPoint, () => void>())
  /** Processes that only call `runDue`. */
  const calls = new Map<Node, Promise<unknown>>()
  let isHealed = false
  let isClosed = false

  const start = (place: number): void => {
    if (nodes[place] !== null || isEmpty[place] || isClosed) return
    const release = scenario.releases[releases[place]!]!
    const name = `n${place + 1}.${++lives[place]!}`
    const node = createNode(parts, name, scenario.nodes[place]!, release, ambushes[place]!)
    const isOld = releases[place] === 0 && nodes.some((other) => other !== null && other.release !== release)
    if (isOld) count('old release')
    nodes[place] = node
    all.push(node)
    for (const disturbance of everywhere) node.disturbances.add(disturbance)
    const { concurrency } = scenario.nodes[place]!
    const able = { jobs: jobsOf(release, scenario.nodes[place]!), concurrency, app: release.app ?? DEFAULT_APP }
    recorder.node(node.name, 'started', able)
    void node.app.start().then(() => {
      if (nodes[place] === node && !stopping.has(node.name)) recorder.node(node.name, 'ready', able)
    })
  }
  const comeBack = (place: number, downMs: number): void => {
    if (isHealed) world.at(world.now(), () => start(place))
    else spells.last(downMs, () => start(place))
  }
  const isGone = (place: number, node: Node, downMs: number): void => {
    recorder.node(node.name, 'ended', { jobs: jobsOf(node.release, node) })
    nodes[place] = null
    comeBack(place, downMs)
  }
  const crash = (place: number, downMs: number): void => {
    const node = nodes[place]
    if (!node) return
    node.process.crash()
    recorder.fault('crash', node.name)
    count('crash')
    isGone(place, node, downMs)
  }

  const pause: Stage['pause'] = (place, forMs, how) => {
    const node = nodes[place]
    if (!node) return
    node.process.pause(how)
    if (forMs > scenario.leaseMs) count('paused beyond the lease')
    const end = recorder.fault('pause', node.name)
    spells.last(forMs, () => {
      node.process.resume()
      end()
    })
  }

  const stop: Stage['stop'] = (place, downMs) => {
    const node = nodes[place]
    if (!node || stopping.has(node.name)) return
    stopping.add(node.name)
    recorder.node(node.name, 'stopping', { jobs: jobsOf(node.release, node) })
    recorder.fault('stop', node.name)
    count('stop')
    void node.app.stop().then(() => {
      if (nodes[place] === node) isGone(place, node, downMs)
    })
  }

  return {
    nodes,
    all,
    everywhere,
    start,
    crash,
    crashLater(place, deliveries, downMs) {
      const node = nodes[place]
      node?.process.crash({ deliveries, crashed: () => nodes[place] === node && crash(place, downMs) })
    },
    crashAt(place, point, downMs) {
      ambushes[place]!.set(point, () => {
        ambushes[place]!.delete(point)
        count(`crash at ${point}`)
        crash(place, downMs)
      })
    },
    stop,
    pause,
    pauseAt(place, point, forMs, how) {
      ambushes[place]!.set(point, () => {
        ambushes[place]!.delete(point)
        count('pause at a point')
        pause(place, forMs, how)
      })
    },
    stepWall(place, byMs) {
      const node = nodes[place]
      if (!node) return
      node.process.step(byMs)
      recorder.fault('wall-step', node.name, { sparesRuns: true })
      count('wall clock step')
    },
    loseSession(place, forMs, isTold) {
      const node = nodes[place]
      if (!node) return
      node.isSessionLost = true
      count('session lost')
      if (isTold) node.link.doubt()
      const end = recorder.fault('session-lost', node.name)
      spells.last(forMs, () => {
        node.isSessionLost = false
        end()
      })
    },
    call(place, killedAfterMs) {
      const release = scenario.releases[releases[place]!]!
      const name = `call-${all.length + 1}`
      const node = createNode(parts, name, scenario.nodes[place]!, release, new Map())
      const able = { jobs: jobsOf(release, scenario.nodes[place]!), app: release.app ?? DEFAULT_APP }
      all.push(node)
      for (const disturbance of everywhere) node.disturbances.add(disturbance)
      recorder.node(name, 'started', able)
      count('call')
      // A call that fails because of the store has run what it could.
      const called = node.app.runDue().then(
        ({ succeeded }) => void (succeeded > 0 && count('run in a call')),
        () => {},
      )
      const ended = called.then(() => {
        if (calls.delete(node)) recorder.node(name, 'ended', able)
      })
      calls.set(node, ended)
      if (killedAfterMs === null) return
      world.at(world.now() + killedAfterMs, () => {
        if (isHealed || !calls.delete(node)) return
        node.process.crash()
        recorder.fault('crash', name)
        recorder.node(name, 'ended', able)
        count('call killed')
      })
    },
    setRelease(place, release) {
      releases[place] = release
    },
    vanish(place, how) {
      isEmpty[place] = true
      if (how === 'stop') stop(place, 0)
      else crash(place, 0)
    },
    appear(place, release) {
      isEmpty[place] = false
      releases[place] = release
      start(place)
    },
    awake: () => Promise.all([...nodes, ...calls.keys()].map((node) => node?.process.delivered())),
    async leave() {
      isClosed = true
      // A call may have hours of late fires to run one after the other: it must end because it is stopped, as any process must.
      const leaving = [...nodes.filter((node) => node !== null), ...calls.keys()]
      await Promise.all([...leaving.map(({ app }) => app.stop()), ...calls.values()])
      return leaving
    },
    heal() {
      isHealed = true
      spells.endAll()
      for (const ambush of ambushes) ambush.clear()
      for (const node of all) {
        if (node.process.state !== 'crashed')
          node.process.crash({ deliveries: Number.POSITIVE_INFINITY, crashed: () => {} })
      }
      for (const place of nodes.keys()) start(place)
    },
  }
}

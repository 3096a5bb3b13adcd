import type { SyncPoint } from '../../packages/cronce/src/engine/parts.ts'
import type { Disturbance } from './disturb.ts'
import { createNode, type Node, type NodeParts } from './node.ts'

/** The nodes: each place has one process after the other. */
export interface Stage {
  /** Who is up in each place. */
  readonly nodes: readonly (Node | null)[]
  /** All that there ever were. */
  readonly all: readonly Node[]
  start(place: number): void
  /** It is gone, as if by kill -9, and comes back after a while. */
  crash(place: number, downMs: number): void
  crashLater(place: number, deliveries: number, downMs: number): void
  crashAt(place: number, point: SyncPoint, downMs: number): void
  /** It is asked to stop, and comes back after a while. */
  stop(place: number, downMs: number): void
  pause(place: number, forMs: number, how: 'stopped' | 'suspended'): void
  pauseAt(place: number, point: SyncPoint, forMs: number, how: 'stopped' | 'suspended'): void
  stepWall(place: number, byMs: number): void
  setRelease(place: number, release: number): void
  /** On the connection of one place, or (null) on all. */
  disturb(place: number | null, disturbance: Disturbance, forMs: number): void
  deafen(place: number, forMs: number): void
  /** All faults off, and everybody up. */
  heal(): void
}

export function createStage(parts: NodeParts, operator: Node, count: (what: string) => void): Stage {
  const { world, scenario } = parts
  const { recorder, stopping } = parts.place
  const nodes: (Node | null)[] = scenario.nodes.map(() => null)
  const releases = scenario.nodes.map(() => 0)
  const lives = scenario.nodes.map(() => 0)
  const all: Node[] = []
  /** They wait for whoever is in that place when it gets there. */
  const ambushes = scenario.nodes.map(() => new Map<SyncPoint, () => void>())
  /** Ends of faults that are going on; each is to be called once. */
  const ends = new Set<() => void>()
  let isHealed = false

  const lasting = (forMs: number, end: () => void): void => {
    const once = (): void => {
      if (ends.delete(once)) end()
    }
    ends.add(once)
    world.at(world.now() + forMs, once)
  }
  const start = (place: number): void => {
    if (nodes[place] !== null) return
    const release = scenario.releases[releases[place]!]!
    const node = createNode(
      parts,
      `n${place + 1}.${++lives[place]!}`,
      scenario.nodes[place]!,
      release,
      ambushes[place]!,
    )
    nodes[place] = node
    all.push(node)
    if (releases[place] === 0 && nodes.some((other) => other?.release !== release && other !== null))
      count('old release')
    for (const disturbance of everywhere) node.disturbances.add(disturbance)
    const jobs = Object.keys(release.jobs)
    recorder.node(node.name, 'started', jobs)
    void node.app.start().then(() => {
      if (nodes[place] === node && !stopping.has(node.name)) recorder.node(node.name, 'ready', jobs)
    })
  }
  const everywhere = new Set<Disturbance>()
  const comeBack = (place: number, downMs: number): void => {
    if (isHealed) world.at(world.now(), () => start(place))
    else lasting(downMs, () => start(place))
  }
  const isGone = (place: number, node: Node, downMs: number): void => {
    recorder.node(node.name, 'ended', Object.keys(node.release.jobs))
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
    lasting(forMs, () => {
      node.process.resume()
      end()
    })
  }

  return {
    nodes,
    all,
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
    stop(place, downMs) {
      const node = nodes[place]
      if (!node || stopping.has(node.name)) return
      stopping.add(node.name)
      recorder.node(node.name, 'stopping', Object.keys(node.release.jobs))
      recorder.fault('stop', node.name)
      count('stop')
      void node.app.stop().then(() => {
        if (nodes[place] === node) isGone(place, node, downMs)
      })
    },
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
      recorder.fault('wall-step', node.name)
      count('wall clock step')
    },
    setRelease(place, release) {
      releases[place] = release
    },
    disturb(place, disturbance, forMs) {
      const whose = place === null ? [...nodes, operator] : [place < 0 ? operator : nodes[place]!]
      const touched = whose.filter((node) => node !== null)
      if (touched.length === 0) return
      if (place === null) everywhere.add(disturbance)
      const names = place === null ? [null] : touched.map(({ name }) => name)
      const recorded = names.map((name) => recorder.fault(disturbance.fault, name))
      for (const node of touched) node.disturbances.add(disturbance)
      lasting(forMs, () => {
        everywhere.delete(disturbance)
        for (const node of [...all, operator]) node.disturbances.delete(disturbance)
        // What is under way by then takes its time, both ways.
        for (const end of recorded) end(2 * disturbance.slowMs)
      })
    },
    deafen(place, forMs) {
      const node = nodes[place]
      if (!node) return
      node.link.deaf = true
      count('deaf')
      const end = recorder.fault('deaf', node.name)
      lasting(forMs, () => {
        node.link.deaf = false
        end()
      })
    },
    heal() {
      isHealed = true
      for (const end of [...ends]) end()
      for (const ambush of ambushes) ambush.clear()
      for (const node of all) {
        if (node.process.state !== 'crashed')
          node.process.crash({ deliveries: Number.POSITIVE_INFINITY, crashed: () => {} })
      }
      for (const place of nodes.keys()) start(place)
    },
  }
}

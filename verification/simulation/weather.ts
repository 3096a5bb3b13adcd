import type { Disturbance } from './disturb.ts'
import type { Node } from './node.ts'
import type { Recorder } from './recorder.ts'
import type { Spells } from './spells.ts'
import type { Stage } from './stage.ts'

/** What goes wrong between processes and the store. */
export interface Weather {
  /** On the connection of one place (-1: the operator's), or (null) on all. */
  disturb(place: number | null, disturbance: Disturbance, forMs: number): void
  /** Wake-ups do not get through. */
  deafen(place: number, forMs: number): void
}

interface Operators {
  readonly operator: Node
  /** Processes that run no jobs: what goes wrong everywhere goes wrong for them, too. */
  readonly others: readonly Node[]
}

export function createWeather(stage: Stage, people: Operators, spells: Spells, recorder: Recorder): Weather {
  const { operator, others } = people
  return {
    disturb(place, disturbance, forMs) {
      const whose =
        place === null ? [...stage.nodes, operator, ...others] : [place < 0 ? operator : stage.nodes[place]!]
      const touched = whose.filter((node) => node !== null)
      if (touched.length === 0) return
      if (place === null) stage.everywhere.add(disturbance)
      const names = place === null ? [null] : touched.map(({ name }) => name)
      const recorded = names.map((name) => recorder.fault(disturbance.fault, name))
      for (const node of touched) node.disturbances.add(disturbance)
      spells.last(forMs, () => {
        stage.everywhere.delete(disturbance)
        for (const node of [...stage.all, operator, ...others]) node.disturbances.delete(disturbance)
        // What is under way by then takes its time, both ways.
        for (const end of recorded) end(2 * disturbance.slowMs)
      })
    },
    deafen(place, forMs) {
      const node = stage.nodes[place]
      if (!node) return
      node.link.deaf = true
      const end = recorder.fault('deaf', node.name)
      spells.last(forMs, () => {
        node.link.deaf = false
        end()
      })
    },
  }
}

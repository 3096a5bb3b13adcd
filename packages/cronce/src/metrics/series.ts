import { ending, type Reason } from '../model/outcome.ts'
import type { Definition } from './definitions.ts'
import type { Family, Sample } from './exposition.ts'

/** The values of one counter or histogram, by up to two labels. */
export class Series {
  readonly definition: Definition
  readonly #cells = new Map<string, Map<string, Cell>>()

  constructor(definition: Definition) {
    this.definition = definition
  }

  add(first: string, second: string, count: number): void {
    this.#cell(first, second).sum += count
  }

  observe(first: string, value: number): void {
    const cell = this.#cell(first, '')
    const { buckets = [] } = this.definition
    let place = 0
    while (place < buckets.length && value > buckets[place]!) place++
    cell.counts[place]!++
    cell.sum += value
  }

  /** Nested instead of by a joined key: the path of every fire makes no text. */
  #cell(first: string, second: string): Cell {
    let bySecond = this.#cells.get(first)
    if (bySecond === undefined) {
      bySecond = new Map()
      this.#cells.set(first, bySecond)
    }
    let cell = bySecond.get(second)
    if (cell === undefined) {
      cell = new Cell(this.definition, first, second)
      bySecond.set(second, cell)
    }
    return cell
  }

  family(): Family {
    const { name, type, help } = this.definition
    const cells = [...this.#cells.values()].flatMap((bySecond) => [...bySecond.values()])
    return { name, type, help, samples: cells.flatMap((cell) => cell.samples()) }
  }
}

class Cell {
  /** Of a counter: its value. */
  sum = 0
  /** By bucket, not cumulated; the last one is for what is larger than all bounds. */
  readonly counts: number[]
  readonly #definition: Definition
  readonly #labels: Readonly<Record<string, string>>

  constructor(definition: Definition, first: string, second: string) {
    const { buckets, labels } = definition
    this.counts = buckets === undefined ? [] : new Array<number>(buckets.length + 1).fill(0)
    this.#definition = definition
    this.#labels = labelValues(labels, first, second)
  }

  samples(): readonly Sample[] {
    const { name, buckets } = this.#definition
    const labels = this.#labels
    if (buckets === undefined) return [{ name, labels, value: this.sum }]
    let count = 0
    const cumulated = [...buckets, Number.POSITIVE_INFINITY].map((bound, place) => {
      count += this.counts[place]!
      const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound)
      return { name: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    const sum = { name: `${name}_sum`, labels, value: this.sum }
    return [...cumulated, sum, { name: `${name}_count`, labels, value: count }]
  }
}

/** The labels of a metric by name. A third one is the outcome, which the reason implies. */
export function labelValues(names: readonly string[], first: string, second: string): Record<string, string> {
  const labels: Record<string, string> = {}
  if (names[0] !== undefined) labels[names[0]] = first
  if (names[1] !== undefined) labels[names[1]] = second
  if (names[2] !== undefined) labels[names[2]] = ending(second as Reason).outcome
  return labels
}

import { ending, type Reason } from '../model/outcome.ts'
import type { Definition } from './definitions.ts'
import type { Family, Sample } from './exposition.ts'

/** What is counted or observed with one set of labels. */
export interface Measured {
  add(count: number): void
  observe(seconds: number): void
}

/** The values of one counter or histogram, by up to two labels. */
export class Series {
  readonly definition: Definition
  readonly #cells = new Map<string, Cell>()

  constructor(definition: Definition) {
    this.definition = definition
  }

  cell(first: string, second: string): Cell {
    const key = `${first}\0${second}`
    let cell = this.#cells.get(key)
    if (cell === undefined) {
      cell = new Cell(this.definition, first, second)
      this.#cells.set(key, cell)
    }
    return cell
  }

  family(): Family {
    const { name, type, help } = this.definition
    return { name, type, help, samples: [...this.#cells.values()].flatMap((cell) => cell.samples()) }
  }
}

/** The value of a counter, or of a histogram, with its labels. */
class Cell implements Measured {
  #sum = 0
  /** By bucket, not cumulated; the last one is for what is larger than all bounds. */
  readonly #counts: number[]
  readonly #buckets: readonly number[]
  readonly #name: string
  readonly #labels: Readonly<Record<string, string>>

  constructor({ name, buckets = [], labels }: Definition, first: string, second: string) {
    this.#counts = new Array<number>(buckets.length + 1).fill(0)
    this.#buckets = buckets
    this.#name = name
    this.#labels = labelValues(labels, first, second)
  }

  add(count: number): void {
    this.#sum += count
  }

  observe(seconds: number): void {
    const buckets = this.#buckets
    let place = 0
    while (place < buckets.length && seconds > buckets[place]!) place++
    this.#counts[place]!++
    this.#sum += seconds
  }

  samples(): readonly Sample[] {
    const name = this.#name
    const labels = this.#labels
    if (this.#buckets.length === 0) return [{ name, labels, value: this.#sum }]
    let count = 0
    const cumulated = [...this.#buckets, Number.POSITIVE_INFINITY].map((bound, place) => {
      count += this.#counts[place]!
      const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound)
      return { name: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    const sum = { name: `${name}_sum`, labels, value: this.#sum }
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

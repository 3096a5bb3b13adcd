import type { Put } from './driver.ts'

/** What one change writes: each key once, as it was said last. */
export class Writes {
  readonly #puts = new Map<string, string>()
  readonly #deletes = new Set<string>()

  put(key: string, value: string): void {
    this.#deletes.delete(key)
    this.#puts.set(key, value)
  }

  delete(key: string): void {
    this.#puts.delete(key)
    this.#deletes.add(key)
  }

  get puts(): Put[] {
    return [...this.#puts].map(([key, value]) => ({ key, value }))
  }

  get deletes(): string[] {
    return [...this.#deletes]
  }
}

/**
 * A bounded memory of values by key. Two generations: when the young one is full it becomes the old one, and what was old
 * and not asked for since is forgotten.
 */
export class Recent<Value> {
  readonly #limit: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    return old === undefined ? undefined : this.add(key, old)
  }

  add(key: string, value: Value): Value {
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
    return value
  }
}

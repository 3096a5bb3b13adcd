/**
 * A bounded memory of values by key. When it is full it starts afresh: what is in use is soon remembered again, and a
 * memory that knew what is in use would cost more than it saves.
 */
export class Recent<Value> {
  readonly #limit: number
  #values = new Map<string, Value>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  add(key: string, value: Value): Value {
    if (this.#values.size >= this.#limit) this.#values = new Map()
    this.#values.set(key, value)
    return value
  }
}

import type { Access } from './history.ts'

/** A counter that rejects writes with an older token than it has seen; and the same for terms. */
export class Resource {
  readonly accesses: Access[] = []
  readonly #isGuarded: boolean
  #value = 0
  #token = 0n
  #term = 0n

  constructor(isGuarded = true) {
    this.#isGuarded = isGuarded
  }

  /** What it holds. `null`: refused. */
  read(process: string, token: string): number | null {
    const isAccepted = this.#admits(token)
    this.accesses.push({ process, what: 'read', token, isAccepted, value: this.#value })
    return isAccepted ? this.#value : null
  }

  write(process: string, token: string, value: number): boolean {
    const isAccepted = this.#admits(token)
    if (isAccepted) this.#value = value
    this.accesses.push({ process, what: 'write', token, isAccepted, value })
    return isAccepted
  }

  present(process: string, term: string): void {
    const isAccepted = BigInt(term) >= this.#term
    if (isAccepted) this.#term = BigInt(term)
    this.accesses.push({ process, what: 'term', token: term, isAccepted, value: 0 })
  }

  #admits(token: string): boolean {
    if (this.#isGuarded && BigInt(token) < this.#token) return false
    this.#token = BigInt(token)
    return true
  }

  /** The process that was let in last. */
  last(what: Access['what']): string | undefined {
    return this.accesses.findLast((access) => access.what === what && access.isAccepted)?.process
  }
}

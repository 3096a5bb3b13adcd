/** One thing that can happen next. */
export interface Move<State> {
  /** In words, for a trace. */
  readonly words: string
  /** Something goes wrong, or time is wasted: nothing that has to happen for things to end well. */
  readonly isFault: boolean
  readonly make: () => Promise<State> | State
}

export interface Model<State> {
  readonly name: string
  initial(): Promise<State>
  /** States of one identity have the same future: only one of them is looked at. */
  identity(state: State): string
  moves(state: State): Promise<readonly Move<State>[]> | readonly Move<State>[]
  /** What is wrong with a state, or with getting there; begins with the name of what is broken. `null`: nothing. */
  judge(before: State | null, after: State): string | null
  /** Why the state can't end well although nothing goes wrong any more. `null`: it can. */
  stuck(state: State): Promise<string | null>
}

export interface ExploreOptions {
  /** Stop after this many states; then `isComplete` is false. */
  readonly mostStates?: number | undefined
  /** Check for one in this many states whether it can end well. 0: never. */
  readonly stuckEvery?: number | undefined
}

export interface Exploration {
  readonly model: string
  readonly states: number
  readonly edges: number
  /** Moves on the shortest way to the state that is furthest away. */
  readonly depth: number
  /** States that were asked whether they can end well. */
  readonly continued: number
  readonly isComplete: boolean
  readonly violation: Violation | null
  readonly seconds: number
}

export interface Violation {
  readonly name: string
  readonly message: string
  /** The shortest way there. */
  readonly trace: readonly string[]
}

/** All states that can be reached, the nearest first: the first violation found is one with the shortest trace. */
export async function explore<State>(
  model: Model<State>,
  { mostStates = Number.POSITIVE_INFINITY, stuckEvery = 0 }: ExploreOptions = {},
): Promise<Exploration> {
  const begunAt = performance.now()
  const search = new Search<State>()
  let edges = 0
  let continued = 0
  const end = (isComplete: boolean, message: string | null, at: number, last: readonly string[] = []) => ({
    model: model.name,
    states: search.size,
    edges,
    depth: search.depth,
    continued,
    isComplete,
    violation: message === null ? null : { name: nameOf(message), message, trace: [...search.trace(at), ...last] },
    seconds: (performance.now() - begunAt) / 1_000,
  })
  const first = await model.initial()
  search.add(model.identity(first), first, -1, '')
  for (let at = 0; at < search.size; at++) {
    const state = search.take(at)
    if (stuckEvery > 0 && at % stuckEvery === 0) {
      continued++
      const why = await model.stuck(state)
      if (why !== null) return end(false, why, at)
    }
    for (const { words, make } of await model.moves(state)) {
      edges++
      const next = await make()
      const wrong = model.judge(state, next)
      if (wrong !== null) return end(false, wrong, at, [words])
      search.add(model.identity(next), next, at, words)
    }
    if (search.size > mostStates) return end(false, null, at)
  }
  return end(true, null, 0)
}

/** What was found so far, in the order in which it was found. */
class Search<State> {
  readonly #known = new Set<string>()
  readonly #waiting: (State | null)[] = []
  readonly #parents: number[] = []
  readonly #words: string[] = []
  readonly #depths: number[] = []

  get size(): number {
    return this.#parents.length
  }

  get depth(): number {
    return this.#depths.at(-1) ?? 0
  }

  add(identity: string, state: State, parent: number, words: string): void {
    if (this.#known.has(identity)) return
    this.#known.add(identity)
    this.#waiting.push(state)
    this.#parents.push(parent)
    this.#words.push(words)
    this.#depths.push(parent < 0 ? 0 : this.#depths[parent]! + 1)
  }

  /** A state is held only until it was looked at. */
  take(at: number): State {
    const state = this.#waiting[at]!
    this.#waiting[at] = null
    return state
  }

  trace(at: number): string[] {
    const words: string[] = []
    for (let index = at; this.#parents[index]! >= 0; index = this.#parents[index]!) words.unshift(this.#words[index]!)
    return words
  }
}

function nameOf(message: string): string {
  return message.split(/[ :]/, 1)[0]!
}

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../store-error.ts'
import { CallLost } from './call-lost.ts'
import type { Layout } from './layout.ts'
import { ERROR, getData, type Maybe, type Node, type Request, sync, ZooKeeperError } from './messages.ts'
import type { Reply, Session, Target } from './session.ts'
import { type Look, lookTogether } from './view.ts'

/** What was looked at, all of it as it was right after one commit. */
export interface Snapshot<Results> {
  readonly revision: number
  /** Of the node that every commit writes. */
  readonly version: number
  readonly results: Results
}

/** After a commit came in between, or the server was behind: at most this, times the number of tries so far. */
const PAUSE_MS = 2
const MOST_PAUSE_MS = 50

export type Looks<Results> = { [Index in keyof Results]: Look<Results[Index]> }

/**
 * Reads many nodes as of one moment. Every commit writes one node, `rev`; if that is the same before and after, nothing was written in
 * between. Looks are made again until they succeed, so `start` may be called several times.
 */
export class Snapshots {
  readonly #session: Session
  readonly #layout: Layout
  readonly #name: string
  /** The longest that one server may take. */
  readonly #eachMs: number

  constructor(session: Session, layout: Layout, { name, servers, timeoutMs }: Target) {
    this.#session = session
    this.#layout = layout
    this.#name = name
    this.#eachMs = servers.length === 1 ? timeoutMs : timeoutMs / 2
  }

  /** Not older than the commit `least`. */
  async take<Results extends readonly unknown[]>(
    start: () => Looks<Results>,
    least: number,
    deadline: number,
  ): Promise<Snapshot<Results>> {
    for (let tries = 1; ; tries++) {
      const taken = await this.#tryAnywhere(start, deadline)
      if (taken !== null && taken.revision >= least) return taken as unknown as Snapshot<Results>
      if (performance.now() >= deadline) throw taken === null ? this.#busy() : this.#behind(taken.revision, least)
      // Another server may have more.
      if (taken !== null) this.#session.leave()
      await sleep(Math.random() * Math.min(PAUSE_MS * tries, MOST_PAUSE_MS))
    }
  }

  /** A read may be repeated: a server that does not answer leaves time for another one. */
  async #tryAnywhere(start: () => readonly Look<unknown>[], deadline: number): Promise<Snapshot<unknown[]> | null> {
    try {
      return await this.#try(start(), deadline)
    } catch (error) {
      if (!(error instanceof CallLost) || performance.now() + MOST_PAUSE_MS >= deadline) throw error
      return null
    }
  }

  /** `null`: a commit came in between. */
  async #try(looks: readonly Look<unknown>[], deadline: number): Promise<Snapshot<unknown[]> | null> {
    const rev = getData(this.#layout.own('rev'))
    const before = [sync(this.#layout.root), rev]
    const look = lookTogether(looks)
    let asked = look.next()
    let first: Node | null = null
    while (first === null || asked.done !== true) {
      const isFirst = first === null
      const wanted = asked.done === true ? [] : asked.value
      const answers = await this.#ask([...(isFirst ? before : []), ...wanted, rev], deadline)
      const last = this.#revOf(answers.at(-1))
      first ??= this.#revOf(answers[1])
      if (first.stat.version !== last.stat.version) return null
      if (asked.done !== true) asked = look.next(answers.slice(isFirst ? before.length : 0, -1))
    }
    const results = asked.value
    return { revision: Number(first.data.toString()), version: first.stat.version, results }
  }

  async #ask(requests: readonly Request<unknown>[], deadline: number): Promise<unknown[]> {
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) throw new CallLost('connecting', 'no answer in time')
    return (await this.#session.send(requests, Math.min(leftMs, this.#eachMs))).map(answerOf)
  }

  #revOf(node: unknown): Node {
    if ((node as Maybe<Node>) !== null) return node as Node
    throw new StoreError('STORE_REPLACED', `${this.#name} was replaced: its data is gone.`, {
      hint: 'Restart this process, so that it declares its schedules again.',
    })
  }

  #busy(): StoreError {
    return new StoreError('STORE_BUSY', `Other processes changed ${this.#name} during every read.`, {
      hint: 'Try again.',
    })
  }

  #behind(revision: number, least: number): StoreError {
    return new StoreError(
      'STORE_REPLACED',
      `${this.#name} went back in time, from revision ${least} to ${revision}: it was restored from a copy, or replaced.`,
      {
        hint: 'Stop all instances, then run cronce adopt once: see https://github.com/cronce/cronce/blob/main/docs/zookeeper.md.',
      },
    )
  }
}

function answerOf(reply: Reply): unknown {
  if ('answer' in reply) return reply.answer
  if (reply.error.code === ERROR.noNode) return null
  throw new ZooKeeperError(reply.error.code)
}

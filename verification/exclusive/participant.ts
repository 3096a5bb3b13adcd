import { setTimeout as sleep } from 'node:timers/promises'
import type { Cronce } from '../../packages/cronce/src/app/cronce.ts'
import { type LineBody, now } from './history.ts'

/** What one process does in a contest. */
export interface Wish {
  /** The number of sections to complete. */
  readonly increments: number
  readonly keys: readonly string[]
}

export interface Surroundings {
  readonly note: (line: LineBody, at?: number) => void
  readonly read: (token: string) => Promise<number | null>
  readonly write: (token: string, value: number) => Promise<boolean>
  readonly present: (term: string) => void
  /** In the middle of what a key is for. */
  readonly doing: () => void
}

export interface Participant {
  /** Resolves when all that was wished for is done. */
  readonly finished: Promise<void>
  /** Whether it leads: asked and noted, at this very moment. */
  ask(): void
  stop(): Promise<void>
}

const LOCK = 'counter'
const ELECTION = 'cache'
const ASK_MS = 10
const KEYS_AT_ONCE = 4
/** Far more than any fault explains. */
const TRIES = 10_000

class Refused extends Error {}

/** On an app that has started. */
export function takePart(app: Cronce, { increments, keys }: Wish, around: Surroundings): Participant {
  const { note } = around
  const over = new AbortController()
  const election = app.elect(ELECTION, {
    onElected: ({ term }) => note({ what: 'elected', term: String(term) }),
    onLost: ({ term }) => note({ what: 'lost', term: String(term) }),
  })

  const ask = (): void => {
    // Before the request: a fact that was true when the request was answered was true after this time.
    const at = now()
    const term = election.term
    if (term === null) return
    note({ what: 'leads', term: String(term.term) }, at)
    around.present(String(term.term))
  }

  const askOften = async (): Promise<void> => {
    while (!over.signal.aborted) {
      ask()
      await sleep(ASK_MS)
    }
  }

  /** Read, wait, write: two processes in this section at the same time lose an update. */
  const increment = async (token: string): Promise<void> => {
    note({ what: 'entered', token })
    const value = await around.read(token)
    await sleep(0)
    if (value === null || !(await around.write(token, value + 1))) throw new Refused()
    note({ what: 'left', token })
  }

  const incrementAll = async (): Promise<void> => {
    for (let done = 0, tries = 0; done < increments && tries < TRIES && !over.signal.aborted; tries++) {
      let token: string | null = null
      try {
        await app.lock(LOCK, { wait: '10m' }, (lock) => {
          token = String(lock.token)
          return increment(token)
        })
        note({ what: 'locked', token: token! })
        done++
      } catch {
        // Overtaken, or the store was away: another try.
        if (token !== null) note({ what: 'refused', token })
        await sleep(10)
      }
      await sleep(Math.random() * 4)
    }
  }

  const callOne = async (key: string): Promise<void> => {
    for (let tries = 0; tries < TRIES && !over.signal.aborted; tries++) {
      try {
        const value = await app.once(key, async () => {
          around.doing()
          await sleep(Math.random() * 30)
          const made = `${process.pid}-${Math.random().toString(36).slice(2)}`
          note({ what: 'effect', key, value: made })
          await sleep(Math.random() * 30)
          return made
        })
        return note({ what: 'result', key, value })
      } catch (error) {
        if ((error as { code?: unknown }).code === 'STEP_UNKNOWN') return note({ what: 'unknown', key })
        await sleep(50)
      }
    }
  }

  const callAll = async (): Promise<void> => {
    const left = keys.toSorted(() => Math.random() - 0.5)
    const lane = async (): Promise<void> => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) await callOne(key)
    }
    await Promise.all(Array.from({ length: KEYS_AT_ONCE }, lane))
  }

  void askOften()
  const finished = Promise.all([incrementAll(), callAll()]).then(() => {})
  return {
    finished,
    ask,
    async stop() {
      over.abort()
      await app.stop()
    },
  }
}

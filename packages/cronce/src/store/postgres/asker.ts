import type { ScheduleState } from '../../model/schedule.ts'
import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Database, Statement } from './database.ts'
import type { Statements } from './functions.ts'
import { moveEpoch } from './identity.ts'
import type { StoreMoment } from './rows.ts'
import type { DefinitionColumns, Definitions, StatesAnswer } from './schedules.ts'

/** How often one call moves the epoch. A server that changes its identity more often than this is unusable. */
const MAX_MOVES = 5
/** How often one call reads definitions that changed between two statements. */
const MAX_TRIES = 10

export type Send = <Answer>(statement: Statement, values: readonly string[]) => Promise<Answer>

interface AskerSettings {
  readonly schemaName: string
  readonly statements: Statements
  readonly definitions: Definitions
  readonly epoch: number
  readonly warn: OpenOptions['warn']
  /** Called with a schedule that a newer version of cronce wrote. */
  readonly onNewer: (schedule: string) => void
}

/** Sends the statements of one opening, parses the answers, and follows the epoch of the store. */
export class Asker<Tx> {
  readonly #database: Database<Tx>
  readonly #settings: AskerSettings
  #epoch: number
  #isClosed = false

  constructor(database: Database<Tx>, settings: AskerSettings) {
    this.#database = database
    this.#settings = settings
    this.#epoch = settings.epoch
  }

  get epoch(): number {
    return this.#epoch
  }

  /** From now on every call is refused. */
  close(): void {
    this.#isClosed = true
  }

  requireOpen(): void {
    if (!this.#isClosed) return
    throw new StoreError('STORE_CLOSED', `${this.#database.name} was closed.`, { hint: 'Open it again.' })
  }

  readonly ask = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    this.requireOpen()
    return JSON.parse(await this.#database.ask(statement, values)) as Answer
  }

  /** If the answer is from another server than the one the epoch is about, moves the epoch and asks again. */
  readonly askMoment = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    for (let moves = 0; ; moves++) {
      const answer = await this.ask<Answer & Partial<StoreMoment>>(statement, values)
      this.#epoch = Math.max(this.#epoch, answer.epoch ?? 0)
      if (answer.moved !== true || moves === MAX_MOVES) return answer
      await this.#move()
    }
  }

  /** For writes. A moved server refuses all of them, so the caller loads again and finds the new epoch. */
  readonly askMovable = async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
    const answer = await this.ask<Answer & Partial<StoreMoment>>(statement, values)
    if (answer.moved === true) await this.#move()
    return answer
  }

  /** Asks within the user's transaction. */
  askIn(tx: Tx): Send {
    return async <Answer>(statement: Statement, values: readonly string[]): Promise<Answer> => {
      this.requireOpen()
      const answer = JSON.parse(await this.#database.askIn(tx, statement, values)) as Answer & Partial<StoreMoment>
      // Outside the user's transaction, which may be rolled back. If the move fails, the next call tries again.
      if (answer.moved === true) void this.#move().catch(() => {})
      return answer
    }
  }

  /** An answer with schedules and their definitions. If a definition changed before it was read, reads again. */
  async askStates<Answer extends StatesAnswer>(
    send: Send,
    statement: Statement,
    values: readonly string[],
  ): Promise<readonly [answer: Answer, states: ScheduleState[]]> {
    const { statements, definitions, onNewer } = this.#settings
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const answer = await send<Answer>(statement, values)
      const missing = definitions.missing(answer)
      if (missing.length > 0) {
        definitions.add(await send<DefinitionColumns>(statements.definitions, [JSON.stringify(missing)]))
      }
      const states = definitions.decode(answer.states, onNewer)
      if (states !== null) return [answer, states]
    }
    throw new StoreError('STORE_CONFLICT', 'The definitions of schedules kept changing.', { hint: 'Try again.' })
  }

  async #move(): Promise<void> {
    const { schemaName, warn } = this.#settings
    this.#epoch = await moveEpoch(this.#database as Database, schemaName, warn)
  }
}

import type { Script, WaitOptions } from '../link.ts'
import type { Connection } from './connection.ts'

interface Load {
  /** Number of commands sent before it. */
  readonly after: number
  readonly done: Promise<unknown>
}

/** A connection for commands, and its commands in flight. */
export class Wire {
  readonly connection: Connection
  readonly #loads = new Map<string, Load>()
  #sent = 0
  #inFlight = 0
  #isRetired = false
  #acknowledging: Promise<number> | null = null
  #next: PromiseWithResolvers<number> | null = null

  constructor(connection: Connection) {
    this.connection = connection
  }

  /** Number of commands sent so far. */
  get sent(): number {
    return this.#sent
  }

  send(command: string, args: readonly string[]): Promise<unknown> {
    this.#sent++
    return this.connection.send(command, args)
  }

  /** In use until the caller calls `leave`. */
  enter(): void {
    this.#inFlight++
  }

  leave(): void {
    this.#inFlight--
    if (this.#isRetired && this.#inFlight === 0) this.connection.destroy()
  }

  /** No new call uses it. Commands in flight still get their answers. */
  retire(): void {
    this.#isRetired = true
    if (this.#inFlight === 0) this.connection.destroy()
  }

  /**
   * The server did not know this script at our command of this number. Answers come in order: commands that were sent before the
   * script was loaded only have to be repeated.
   */
  load(script: Script, number: number): Promise<unknown> {
    const known = this.#loads.get(script.sha)
    if (known !== undefined && number <= known.after) return known.done
    const load = { after: this.#sent, done: this.send('script', ['LOAD', script.lua]) }
    this.#loads.set(script.sha, load)
    return load.done
  }

  /**
   * How many replicas have everything that was sent so far. One wait is in flight at a time, and the next serves all callers that
   * came meanwhile: the server does nothing else on this connection while it waits.
   */
  acknowledged(wait: WaitOptions): Promise<number> {
    if (this.#acknowledging === null) return this.#acknowledge(wait)
    this.#next ??= Promise.withResolvers()
    return this.#next.promise
  }

  #acknowledge(wait: WaitOptions): Promise<number> {
    const current = this.send('wait', [String(wait.replicas), String(wait.timeout)]).then(Number)
    this.#acknowledging = current
    const goOn = (): void => {
      const next = this.#next
      this.#next = null
      this.#acknowledging = null
      if (next !== null) next.resolve(this.#acknowledge(wait))
    }
    current.then(goOn, goOn)
    return current
  }
}

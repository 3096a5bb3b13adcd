/**
 * One script of the store. It takes one key, which all others begin with, and texts, and answers texts, so that no client's idea of
 * numbers, maps or protocols matters.
 */
export interface Script {
  readonly name: string
  readonly lua: string
  /** SHA-1 of `lua`: what the server knows it by. */
  readonly sha: string
}

/**
 * The server as the store sees it, whatever the client. Every call ends in bounded time. What it throws is a `StoreError`,
 * whose `notApplied` says whether anything can have been written.
 */
export interface Link {
  /** For messages: where it is, without secrets. */
  readonly name: string
  /** Run a script on the server that has this key. Loaded there if it is not known. Nothing is ever sent twice. */
  run(script: Script, key: string, args: readonly string[]): Promise<string | readonly string[]>
  /** One command by itself, to the server that has this key: what the server says of itself. */
  command(key: string, args: readonly [string, ...string[]]): Promise<unknown>
  /** A connection beside the one for commands, which hears what is published. Opened when first asked for. */
  session(): Promise<Session>
  close(): Promise<void>
}

/** One connection that lives as long as this process wants it to: it is opened again whenever it was lost. */
export interface Session {
  /** Hear what is published on this channel, also on the connections that follow. Returns how to stop. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => void>
  /** Whether all channels are being listened to, as far as is known. */
  isListening(): boolean
  /** Told at once when the connection was lost, and when there is one again. Returns how to stop. */
  onChange(listener: (state: 'lost' | 'back') => void): () => void
  /** How many connections listen to each of these channels, this one included. */
  listeners(channels: readonly string[]): Promise<readonly number[]>
  /** Where the server has it, messages stay on the server that has the key of the channel. How scripts publish. */
  readonly publish: 'SPUBLISH' | 'PUBLISH'
}

/** An acknowledgement by replicas, without which an answer does not count. */
export interface WaitOptions {
  readonly replicas: number
  /** In milliseconds. */
  readonly timeout: number
}

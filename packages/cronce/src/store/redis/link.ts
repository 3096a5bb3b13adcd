/**
 * One script of the store. It takes one key, which all others begin with, and texts, and returns texts, so that conversions of
 * clients do not matter.
 */
export interface Script {
  readonly name: string
  readonly lua: string
  /** SHA-1 of `lua`: the server's name for it. */
  readonly sha: string
}

/**
 * The server as the store sees it, with any client. Every call ends in bounded time. It throws a `StoreError`, whose `notApplied`
 * tells whether anything can have been written.
 */
export interface Link {
  /** Its address for messages, without secrets. */
  readonly name: string
  /** Run a script on the server that has this key; loads it there if it is unknown. Nothing is ever sent twice. */
  run(script: Script, key: string, args: readonly string[]): Promise<string | readonly string[]>
  /** One command on its own, to the server that has this key: for information about the server. */
  command(key: string, args: readonly [string, ...string[]]): Promise<unknown>
  /** A connection beside the one for commands, which receives published messages. Opened on first use. */
  session(): Promise<Session>
  close(): Promise<void>
}

/** One connection for the life of this process: it is reopened whenever it was lost. */
export interface Session {
  /** Listen to messages on this channel, also on later connections. Returns how to stop. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => void>
  /** Whether all channels are being listened to, as far as is known. */
  isListening(): boolean
  /** Called at once when the connection was lost, and when there is one again. Returns how to stop. */
  onChange(listener: (state: 'lost' | 'back') => void): () => void
  /** How many connections listen to each of these channels, this one included. */
  listeners(channels: readonly string[]): Promise<readonly number[]>
  /** If the server supports it, messages stay on the server that has the key of the channel. Tells how scripts publish. */
  readonly publish: 'SPUBLISH' | 'PUBLISH'
}

/** An acknowledgement by replicas, without which an answer does not count. */
export interface WaitOptions {
  readonly replicas: number
  /** In milliseconds. */
  readonly timeout: number
}

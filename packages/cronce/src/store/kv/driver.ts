import type { Instant } from '../../model/schedule.ts'

/** How long a caller that only wants to know the time waits for a sharp clock: less than any call may take. */
export const SHARPEN_MS = 1_500

/**
 * What a consensus store must be able to do: ordered keys, guarded writes, leases, and its clock. Keys and values are texts; keys
 * are ordered by their UTF-8 bytes. `revision` counts the writes of the whole server.
 */
export interface KvDriver {
  /** For messages. */
  readonly name: string
  /** Bounds of the server's clock: it shows at least `earliest` and at most `latest`. */
  clock(): ClockBounds
  /** Resolves when the bounds are close together, after this time at the latest: a distant server never shows its clock that well. */
  sharpen(mostMs: number): Promise<void>
  /** All at one moment: the present, or the one right after the write `at`. Throws `RevisionGone` if that is no longer kept. */
  read(reads: readonly Read[], at?: number): Promise<Snapshot>
  /** See `Commit`. Throws `LeaseEnded`, having written nothing, if a put names a lease that has ended. */
  commit(commit: Commit): Promise<Committed>
  /** A lease that ends unless it is kept alive within this time. */
  grant(ttlMs: number): Promise<string>
  /** False: it has ended. */
  keepAlive(lease: string): Promise<boolean>
  /** Calls `onValue` whenever the key is written, and `onBack` when writes may have been missed. Returns how to stop. */
  watch(key: string, onValue: (value: string) => void, onBack: () => void): () => void
  /**
   * What was written to the keys of a range after one write and up to another, which wrote to the range: in order. `null`: the
   * server no longer keeps it.
   */
  changes(range: KeyRange, after: number, until: number): Promise<readonly Written[] | null>
  /** What tells this server from another one, as far as it says. `term` never goes back. */
  identify(): Promise<ServerIdentity>
  /** Called once when the server has gone back in time. From then on every call fails, but for those of the driver that is passed. */
  onReplaced(listener: (unchecked: KvDriver) => Promise<void>): void
  close(): Promise<void>
}

export interface ClockBounds {
  readonly earliest: Instant
  readonly latest: Instant
  /** How often the clock was found to have been set. */
  readonly steps: number
}

export interface ServerIdentity {
  readonly cluster: string
  readonly term: number
}

/** From `from` on, without `to`. */
export interface KeyRange {
  readonly from: string
  readonly to: string
}

export type Read =
  | { readonly get: string }
  | (KeyRange & {
      /** @default all */
      readonly limit?: number
      readonly reverse?: boolean
      /** Without values. */
      readonly keysOnly?: boolean
      /** Only how many there are. */
      readonly countOnly?: boolean
    })

export interface Entry {
  readonly key: string
  readonly value: string
  /** The write that wrote it last. */
  readonly revision: number
  /** How often it was written since it was absent. */
  readonly version: number
}

export interface Found {
  readonly entries: readonly Entry[]
  /** Of the whole range. For a read with a limit, more than there are entries if there are more. */
  readonly count: number
}

export interface Snapshot {
  readonly revision: number
  /** One for each read, in order. */
  readonly found: readonly Found[]
}

export type Guard =
  | { readonly key: string; readonly is: 'absent' | 'present' }
  | { readonly key: string; readonly is: 'revision'; readonly revision: number }
  | { readonly key: string; readonly is: 'version'; readonly version: number }
  /** No key of the range exists. */
  | { readonly range: KeyRange; readonly is: 'empty' }
  /** No key of the range was written after this write. */
  | { readonly range: KeyRange; readonly is: 'quiet'; readonly revision: number }

export interface Put {
  readonly key: string
  readonly value: string
  /** The key goes when this lease ends. */
  readonly lease?: string
}

/** Written if all its guards hold, whatever becomes of other groups. */
export interface Group {
  readonly guards: readonly Guard[]
  readonly puts: readonly Put[]
  readonly deletes: readonly string[]
  /** Whole ranges that are deleted. */
  readonly clears?: readonly KeyRange[]
}

/**
 * If all guards hold: the puts, and of the groups as many as fit in one atomic write. No key is written twice. The guards of all
 * groups see what was before. `reads` see what is after, also if a guard does not hold.
 */
export interface Commit {
  readonly guards: readonly Guard[]
  readonly puts: readonly Put[]
  readonly groups: readonly Group[]
  readonly reads?: readonly Read[]
  /** A lease depends on it: a driver that commits one after the other takes it before those that wait. @default false */
  readonly isUrgent?: boolean
}

export interface Committed {
  readonly isHeld: boolean
  readonly revision: number
  /** For the first groups, whether each was written. The others did not fit, and were not looked at. */
  readonly written: readonly boolean[]
  readonly found: readonly Found[]
}

export interface Written {
  readonly key: string
  /** `null`: deleted. */
  readonly value: string | null
}

export class LeaseEnded extends Error {}

export class RevisionGone extends Error {}

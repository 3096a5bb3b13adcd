import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreSource } from '../../packages/cronce/src/store/store.ts'
import type { Line } from './history.ts'
import type { Wish } from './participant.ts'

/** What a process of a contest is started with. */
export interface Order extends Wish {
  readonly name: string
  readonly folder: string
  readonly store: StoreAt
  readonly lease: number
  /** How far its wall clock is ahead. */
  readonly skewMs: number
}

export interface StoreAt {
  readonly kind: StoreKind
  /** A path, or a URL. */
  readonly at: string
}

export type StoreKind = 'sqlite' | 'postgres' | 'redis' | 'etcd' | 'zookeeper'

/** To a process. `block` holds its event loop for the given time. */
export type Command =
  | { readonly type: 'answer'; readonly id: number; readonly value: number | boolean | null }
  | { readonly type: 'block'; readonly ms: number }
  | { readonly type: 'stop' }

/** From a process. */
export type Message =
  /** `kept`: it returned from a section. `doing`: it is in the middle of what a key is for. */
  | { readonly type: 'kept' }
  | { readonly type: 'doing' }
  | { readonly type: 'finished' }
  | { readonly type: 'present'; readonly term: string }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }

/** To the resource. */
export type Question =
  | { readonly kind: 'read'; readonly token: string }
  | { readonly kind: 'write'; readonly token: string; readonly value: number }

const SUFFIX = '.lines'

export function linesFile(folder: string, name: string): string {
  return join(folder, `${name}${SUFFIX}`)
}

export function readLines(folder: string): Line[] {
  return (
    readdirSync(folder)
      .filter((name) => name.endsWith(SUFFIX))
      // Whose last line has no end yet is still being written to.
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
      .map((line) => JSON.parse(line) as Line)
      .sort((a, b) => a.at - b.at)
  )
}

export async function sourceOf({ kind, at }: StoreAt): Promise<StoreSource<unknown>> {
  if (kind === 'sqlite') return (await import('../../packages/cronce/src/sqlite.ts')).sqlite(at) as StoreSource
  if (kind === 'redis') return (await import('../../packages/cronce/src/redis.ts')).redis(at) as StoreSource
  if (kind === 'etcd') {
    return (await import('../../packages/cronce/src/etcd.ts')).etcd({ endpoints: [at] }) as StoreSource
  }
  if (kind === 'zookeeper') {
    return (await import('../../packages/cronce/src/zookeeper.ts')).zookeeper(at) as StoreSource
  }
  const { postgres } = await import('../../packages/cronce/src/postgres.ts')
  return postgres(at, { migrate: 'auto' }) as StoreSource
}

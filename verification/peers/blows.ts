/** The blows of `npm run chaos`, timed around a due time, each dealt to all systems at the same moment. */
import type { Server } from '../../scripts/servers/index.ts'
import type { Process } from './fleet.ts'
import type { ServerKind } from './order.ts'

export interface Target {
  /** The struck process of each system: the same place in all. */
  readonly struck: readonly Process[]
  readonly all: readonly Process[]
  readonly servers: Readonly<Record<ServerKind, Pick<Server, 'halt' | 'restart'>>>
  /** Resolves at this time after (before, if negative) the due time. */
  until(ms: number): Promise<void>
}

export interface Blow {
  readonly name: string
  readonly needsClock?: boolean
  deal(target: Target): Promise<void>
}

/** While the job works, in every system: they start it within two seconds, and it takes five. */
const AMID_MS = 2_500
/** Longer than every lock and lease here, and over before the next due time but one. */
const PAUSE_MS = 45_000
const SERVER_SIGNALS: Readonly<Record<'fast' | 'crash', Readonly<Record<ServerKind, NodeJS.Signals>>>> = {
  fast: { postgres: 'SIGINT', redis: 'SIGTERM' },
  crash: { postgres: 'SIGKILL', redis: 'SIGKILL' },
}

export const BLOWS: readonly Blow[] = [
  {
    name: 'kill -9 of a process in the middle of its work',
    async deal({ struck, until }) {
      await until(AMID_MS)
      for (const one of struck) one.signal('SIGKILL')
    },
  },
  {
    name: 'kill -9 of all processes a second before the due time, started again a second later',
    async deal({ all, until }) {
      await until(-1_000)
      for (const one of all) one.signal('SIGKILL')
    },
  },
  {
    name: 'a process stopped (SIGSTOP) in the middle of its work, for 45 s',
    deal: ({ struck, until }) => stopBetween(struck, until, AMID_MS),
  },
  {
    name: 'a process stopped (SIGSTOP) from 2 s before the due time on, for 45 s',
    deal: ({ struck, until }) => stopBetween(struck, until, -2_000),
  },
  {
    name: 'the connections of a process reset in the middle of its work',
    async deal({ struck, until }) {
      await until(AMID_MS)
      for (const { proxy } of struck) proxy?.cut()
    },
  },
  {
    name: 'the network of a process silent from 2 s before the due time on, for 30 s',
    async deal({ struck, until }) {
      await until(-2_000)
      for (const { proxy } of struck) proxy?.mode('black-hole')
      await until(28_000)
      for (const { proxy } of struck) proxy?.mode('pass')
    },
  },
  {
    name: 'the server restarted across the due time, down for 3 s',
    deal: (target) => restartServers(target, 'fast', -1_000),
  },
  {
    name: 'the server killed (SIGKILL) in the middle of the work, down for 3 s',
    deal: (target) => restartServers(target, 'crash', AMID_MS),
  },
  {
    name: 'the clock of a process set forward by 20 s for half a minute',
    needsClock: true,
    deal: (target) => stepBetween(target, -10_000, 20_000, 20_000),
  },
  {
    name: 'the clock of a process set back by 5 s, 3 s after the due time',
    needsClock: true,
    deal: (target) => stepBetween(target, 3_000, -5_000, 30_000),
  },
]

async function stopBetween(struck: readonly Process[], until: Target['until'], from: number): Promise<void> {
  await until(from)
  for (const one of struck) one.signal('SIGSTOP')
  await until(from + PAUSE_MS)
  for (const one of struck) one.signal('SIGCONT')
}

async function restartServers({ servers, until }: Target, how: 'fast' | 'crash', from: number): Promise<void> {
  await until(from)
  const kinds = Object.keys(servers) as ServerKind[]
  await Promise.all(kinds.map((kind) => servers[kind].halt(SERVER_SIGNALS[how][kind])))
  await until(from + 3_000)
  await Promise.all(kinds.map((kind) => servers[kind].restart()))
}

async function stepBetween({ struck, until }: Target, from: number, byMs: number, to: number): Promise<void> {
  await until(from)
  for (const { clock } of struck) clock?.step(byMs)
  await until(to)
  for (const { clock } of struck) clock?.step(-byMs)
}

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, FireView, RunView } from '../../cronce/src/index.ts'

/** Far beyond any delay of a busy machine: a wait that takes this long has failed. */
const DEADLINE_MS = 120_000
const LOOK_MS = 20
const COMPILED = join(import.meta.dirname, '../../../node_modules/.cache/cronce-processes')
const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
): Promise<Exclude<Value, null | undefined | false>> {
  const giveUpAt = performance.now() + DEADLINE_MS
  for (;;) {
    const value = await look()
    if (value !== null && value !== undefined && value !== false)
      return value as Exclude<Value, null | undefined | false>
    if (performance.now() > giveUpAt) throw new Error(`not in time: ${what}`)
    await sleep(LOOK_MS)
  }
}

/** What a process of a test reports. */
export interface Line {
  readonly what: string
  readonly id: string
}

export interface Program {
  readonly lines: readonly Line[]
  /** Waits for a line. */
  told(what: string, count?: number): Promise<Line>
  /** With `kill -9`. */
  kill(): Promise<void>
  signal(signal: NodeJS.Signals): void
  readonly ended: Promise<unknown>
}

/** A process of its own: `file` gets the order as its first argument. */
export function startProgram(file: string, order: object): Program {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED }
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(order)], { env })
  children.push(child)
  const ended = once(child, 'exit')
  const lines: Line[] = []
  child.on('message', (line: Line) => lines.push(line))
  return {
    lines,
    told: (what, count = 1) =>
      until(`${file} tells ${what}`, () => lines.filter((line) => line.what === what)[count - 1]),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    signal: (signal) => void child.kill(signal),
    ended,
  }
}

/** Triggers the schedule and waits for the end of the fire. */
export async function fired(client: Client, schedule: string, input: object = {}): Promise<FireView> {
  const { fire } = await client.schedules.trigger(schedule, { input: { ...input } })
  return ended(client, fire)
}

export function ended(client: Client, fire: FireView): Promise<FireView> {
  return until(`${fire.schedule} has ended`, async () => {
    const found = await client.fires.get(fire)
    return found.state !== 'open' && found
  })
}

/** Of a fire, the first one first. */
export async function runsOf(client: Client, fire: FireView): Promise<readonly RunView[]> {
  return (await client.runs.list({ fire })).items.toReversed()
}

export function logOf(run: RunView | undefined): readonly string[] {
  return (run?.log ?? []).map(({ message }) => message)
}

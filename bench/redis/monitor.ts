import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { BenchServer } from './server.ts'

/** Every command that the server executed: exact, and too dear for a server that is busy. */
export interface Seen {
  /** By name, the most frequent first. A script is one command, named by its digest. */
  readonly sent: ReadonlyMap<string, number>
  /** What was called inside scripts. */
  readonly inside: ReadonlyMap<string, number>
}

/** One line: a time, then the number of the database and the caller, then the command. */
const LINE = /^\+\S+ \[\d+ (\S+)\] "([^"]*)"(?: "([^"]*)")?/

/** Starts to monitor. The returned function stops it and reports what was seen. */
export async function monitor({ url, admin }: BenchServer): Promise<() => Seen> {
  const client = String(await admin.client('ID'))
  const list = (await admin.client('LIST')) as string
  const own = new RegExp(`^id=${client} addr=(\\S+)`, 'm').exec(list)![1]!
  const sent = new Map<string, number>()
  const inside = new Map<string, number>()
  // By hand: what clients know of MONITOR differs by protocol, and this is all there is to it.
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write('MONITOR\r\n')
  const lines = createInterface({ input: socket })
  await once(lines, 'line')
  lines.on('line', (line) => {
    const [, source, name, first] = LINE.exec(line) ?? []
    if (source === undefined || source === own) return
    count(source === 'lua' ? inside : sent, nameOf(name!, first))
  })
  return () => {
    socket.destroy()
    return { sent: sorted(sent), inside: sorted(inside) }
  }
}

export function totalOf(seen: ReadonlyMap<string, number>): number {
  return [...seen.values()].reduce((sum, calls) => sum + calls, 0)
}

function nameOf(name: string, first = ''): string {
  const command = name.toLowerCase()
  return /^(evalsha|eval|fcall)/.test(command) ? `${command} ${first}` : command
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1)
}

function sorted(seen: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...seen].sort(([, left], [, right]) => right - left))
}

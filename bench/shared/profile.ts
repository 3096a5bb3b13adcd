import { Session } from 'node:inspector/promises'
import type { Profiled } from './protocol.ts'

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

const SAMPLE_US = 250
const FUNCTIONS = 20

/** Where the one thread for JavaScript spends its time, from samples. */
export function mainThreadProfile(): { start(): Promise<void>; stop(): Promise<Profiled> } {
  const session = new Session()
  return {
    async start() {
      session.connect()
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
      await session.post('Profiler.start')
    },
    async stop() {
      const { profile } = await session.post('Profiler.stop')
      session.disconnect()
      return summaryOf(profile.nodes, profile.samples ?? [], profile.timeDeltas ?? [])
    },
  }
}

function summaryOf(nodes: readonly Node[], samples: readonly number[], deltas: readonly number[]): Profiled {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const places = new Map<string, number>()
  const functions = new Map<string, number>()
  let busy = 0
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = byId.get(id)!.callFrame
    // Sampling itself is left out as well.
    if (functionName === '(idle)' || functionName === '(root)' || url === 'node:inspector') continue
    const us = deltas[index]!
    busy += us
    const place = placeOf(functionName, url)
    places.set(place, (places.get(place) ?? 0) + us)
    const name =
      `${functionName || '(anonymous)'} ${url === '' ? '' : `${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`}`.trim()
    functions.set(name, (functions.get(name) ?? 0) + us)
  }
  const sorted = (found: ReadonlyMap<string, number>) =>
    [...found].map(([name, us]) => [name, us / busy] as const).sort(([, left], [, right]) => right - left)
  return { is: 'profiled', shares: sorted(places), functions: sorted(functions).slice(0, FUNCTIONS) }
}

function placeOf(functionName: string, url: string): string {
  if (functionName === '(garbage collector)') return 'collecting garbage'
  if (functionName === '(program)') return 'native code'
  const library = /\/cronce\/(?:src|dist)\/([^/]+)/.exec(url)?.[1]
  if (library !== undefined) return `cronce ${library.replace(/\.[jt]s$/, '')}`
  const dependency = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  if (dependency !== undefined) return dependency
  if (url.startsWith('node:')) return 'Node'
  return url === '' ? 'built-in functions' : 'the benchmark'
}

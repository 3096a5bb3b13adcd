import type { Profiled } from './protocol.ts'
import { grouped, table } from './table.ts'

const PLACES = 10

/** Where the main thread spends its time: by place, and by function. */
export function profileTables({ shares, functions }: Omit<Profiled, 'is'>, mainMsPerFire: number): string[] {
  const share = (value: number) => `${(value * 100).toFixed(1)} %`
  const byPlace = table(
    ['main thread, where', 'share', 'µs per fire'],
    shares.slice(0, PLACES).map(([where, value]) => [where, share(value), grouped(value * mainMsPerFire * 1000)]),
  )
  const byFunction = table(
    ['main thread, function by itself', 'share'],
    functions.map(([name, value]) => [`\`${name}\``, share(value)]),
  )
  return [byPlace, byFunction]
}

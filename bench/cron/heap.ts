// How much memory a schedule takes, in a process of its own.
// Arguments: library, `distinct` or `repeated`, `strings kept` or `strings counted`, how many schedules.
import { distinctExpressions, repeatedExpressions } from './expressions.ts'
import type { HeapResult } from './heap-plan.ts'
import { LIBRARY_NAMES, loadLibrary } from './library.ts'

const [, , libraryName, kind, mode, countText] = process.argv
const library = await loadLibrary(LIBRARY_NAMES.find((known) => known === libraryName)!)
const count = Number(countText)
const ZONE = 'America/New_York'
const FROM = Date.UTC(2027, 0, 1)

const originals = kind === 'distinct' ? distinctExpressions(count, 7) : repeatedExpressions(count, 200, 7)
// One buffer outside the heap that stays as it is, from which strings can be made whenever they are wanted.
const lengths = Uint8Array.from(originals, (expression) => expression.length)
const bytes = Buffer.from(originals.join(''), 'latin1')
originals.length = 0

const strings: (string | undefined)[] = new Array(count).fill(undefined)
const schedules: unknown[] = new Array(count).fill(undefined)
if (mode === 'strings kept') eachString((i, expression) => (strings[i] = expression))

// Code, zone data and formatters are needed once, not once per schedule: have them made before counting.
for (const expression of distinctExpressions(2_000, 99).slice(0, 500))
  library.next(library.parse(expression, ZONE), FROM)

const before = await used()
if (mode === 'strings kept') for (let i = 0; i < count; i++) schedules[i] = library.parse(strings[i]!, ZONE)
else eachString((i, expression) => (schedules[i] = library.parse(expression, ZONE)))
const parsed = await used()
const asked = mode === 'strings counted' ? askWhileTimeLasts() : 0
const inUse = await used()

// Naming both arrays down here keeps them alive up to the last measurement.
const alive = schedules.length + strings.length === 2 * count
const result: HeapResult = { bytes: (parsed - before) / count, bytesOnceAsked: (inUse - parsed) / Math.max(asked, 1) }
if (alive) process.send!(result)
process.disconnect()

/** Asks as many schedules as a second allows: many, so that code compiled on the way does not show. */
function askWhileTimeLasts(): number {
  const until = performance.now() + 1_000
  let i = 0
  while (i < count && (i < 500 || performance.now() < until)) library.next(schedules[i++], FROM)
  return i
}

function eachString(take: (i: number, expression: string) => void): void {
  let at = 0
  for (let i = 0; i < count; i++) {
    take(i, bytes.toString('latin1', at, at + lengths[i]!))
    at += lengths[i]!
  }
}

/** Bytes in use after collecting twice with a pause, since weak references are let go one turn later. */
async function used(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

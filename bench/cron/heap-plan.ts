import { runFresh } from '../shared/processes.ts'
import type { LibraryName } from './library.ts'

/** What one heap process reports, in bytes per schedule. */
export interface HeapResult {
  readonly bytes: number
  /** What the first `next` adds. */
  readonly bytesOnceAsked: number
}

export interface HeapRow {
  readonly library: LibraryName
  readonly count: number
  readonly distinct: HeapFigures
  readonly repeated: HeapFigures
}

interface HeapFigures {
  /** Strings that are created beforehand and kept elsewhere. */
  readonly bytes: number
  /** Strings dropped by the caller: what the schedule keeps of them counts. */
  readonly withStrings: number
  readonly onceAsked: number
}

/** Two at a time: memory, unlike time, does not mind the neighbour. */
export async function measureHeaps(
  libraries: readonly LibraryName[],
  progress: (row: HeapRow) => void,
): Promise<HeapRow[]> {
  const rows: HeapRow[] = []
  for (const library of libraries) {
    const count = scheduleCount(library)
    const [distinct, repeated] = await Promise.all([
      figures(library, 'distinct', count),
      figures(library, 'repeated', count),
    ])
    const row = { library, count, distinct, repeated }
    progress(row)
    rows.push(row)
  }
  return rows
}

/** A schedule of croner takes 83 KB, and 100,000 of them do not fit into 8 GB; cron-parser parses 7,000 a second. */
function scheduleCount(library: LibraryName): number {
  if (library === 'croner') return 10_000
  return library === 'cron-parser' ? 20_000 : 100_000
}

async function figures(library: LibraryName, kind: 'distinct' | 'repeated', count: number): Promise<HeapFigures> {
  const run = (mode: string) =>
    runFresh<HeapResult>(new URL('./heap.ts', import.meta.url), [library, kind, mode, String(count)], 8_000)
  const kept = await run('strings kept')
  const counted = await run('strings counted')
  return { bytes: kept.bytes, withStrings: counted.bytes, onceAsked: counted.bytesOnceAsked }
}

import type { Page } from 'cronce'
import { CronceError } from 'cronce/cron'
import { inParallel } from './in-parallel.ts'

interface PageQuestion {
  readonly limit: number
  readonly after: string | undefined
}

/** One of several lists that are in the same order. */
export interface Source<Item> {
  /** What a cursor calls it. */
  readonly key: string
  readonly list: (page: PageQuestion) => Promise<Page<Item>>
}

const AT_A_TIME = 8
/** Where each list continues; `null`: it is at its end. A list that is not there has not begun. */
type Cursors = Readonly<Record<string, string | null>>

/** One page of several lists as if they were one. A store filters by one name and one outcome, and people ask for several. */
export async function mergePages<Item>(
  sources: readonly Source<Item>[],
  compare: (one: Item, other: Item) => number,
  { limit, after }: PageQuestion,
): Promise<Page<Item>> {
  if (sources.length === 1) return sources[0]!.list({ limit, after })
  const begun = readCursors(after)
  const open = sources.filter(({ key }) => begun[key] !== null)
  const pages = await inParallel(open, AT_A_TIME, (source) =>
    source.list({ limit, after: begun[source.key] ?? undefined }),
  )
  const merged = pages.flatMap(({ items }, index) => items.map((item) => ({ item, index })))
  merged.sort((one, other) => compare(one.item, other.item))
  const taken = merged.slice(0, limit)
  const counts = pages.map((_, page) => taken.filter(({ index }) => index === page).length)
  const ends = await inParallel([...open.keys()], AT_A_TIME, (index) =>
    cursorAfter(open[index]!, pages[index]!, counts[index]!, begun[open[index]!.key] ?? undefined),
  )
  const cursors: Record<string, string | null> = { ...begun }
  open.forEach(({ key }, index) => {
    const end = ends[index]
    if (end !== undefined) cursors[key] = end
  })
  const isOver = sources.every(({ key }) => cursors[key] === null)
  return { items: taken.map(({ item }) => item), next: isOver ? null : writeCursors(cursors) }
}

/** A page can be continued at its end only, so where fewer items were taken, a page of that size is read for its cursor. */
async function cursorAfter<Item>(
  { list }: Source<Item>,
  { items, next }: Page<Item>,
  count: number,
  begun: string | undefined,
): Promise<string | null | undefined> {
  if (count === items.length) return next
  return count === 0 ? begun : (await list({ limit: count, after: begun })).next
}

function writeCursors(cursors: Cursors): string {
  return Buffer.from(JSON.stringify(cursors)).toString('base64url')
}

function readCursors(after: string | undefined): Cursors {
  if (after === undefined) return {}
  try {
    const cursors: unknown = JSON.parse(Buffer.from(after, 'base64url').toString())
    if (isCursors(cursors)) return cursors
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new CronceError('CURSOR_INVALID', '--after is not a cursor of this list.', {
    hint: 'Use what "next" of the page before said, with the same names and outcomes.',
  })
}

function isCursors(value: unknown): value is Cursors {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((cursor) => cursor === null || typeof cursor === 'string')
  )
}

import type { Page as StorePage } from '../store/store.ts'
import { invalid, readInteger } from './read-option.ts'

/** One page of a list. `next` is the `after` of the following one; `null`: that was all. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** Which page of a list, and how long. */
export interface PageOptions {
  /** 1 to 1,000. @default 100 */
  readonly limit?: number | undefined
  /** `next` of the page before. */
  readonly after?: string | undefined
}

export const PAGE_NAMES = ['limit', 'after'] as const

export function readPage({ limit, after }: { limit?: unknown; after?: unknown }): {
  readonly limit: number
  readonly after: string | null
} {
  if (after !== undefined && after !== null && typeof after !== 'string') {
    throw invalid('after', after, 'what `next` of a page said', 'page.next')
  }
  return {
    limit: limit === undefined ? 100 : readInteger('limit', limit, { min: 1, max: 1_000 }),
    after: after ?? null,
  }
}

/** Items that are read at once while none of them is kept. */
const MOST = 1_000

/** A page of those that are kept, as long as any. `onRead` is given every item that was read, once. */
export async function filteredPage<Item>(
  list: (page: { readonly limit: number; readonly after: string | null }) => Promise<Page<Item>>,
  { limit, after }: { readonly limit: number; readonly after: string | null },
  keeps: (item: Item) => boolean,
  onRead: (items: readonly Item[]) => void = () => {},
): Promise<Page<Item>> {
  const items: Item[] = []
  for (let at = after, isAmongOthers = false; ; ) {
    const room = limit - items.length
    const page = await list({ limit: isAmongOthers ? MOST : room, after: at })
    const kept = page.items.filter(keeps)
    // A page can be continued at its end only: what does not fit is asked for again.
    if (kept.length > room) {
      isAmongOthers = false
      continue
    }
    onRead(page.items)
    items.push(...kept)
    if (page.next === null || items.length === limit) return { items, next: page.next }
    at = page.next
    isAmongOthers = kept.length === 0
  }
}

/** All items of all pages, one page in memory at a time. */
export async function* everyItem<Item>(
  pageAfter: (after: string | null, limit: number) => Promise<Pick<StorePage<Item>, 'items' | 'next'>>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | null = null
  do {
    const { items, next }: Pick<StorePage<Item>, 'items' | 'next'> = await pageAfter(after, 500)
    yield* items
    after = next
  } while (after !== null)
}

import type { Page } from 'cronce'
import { type Answer, answerJson } from './answer.ts'

/** Characters of a page: items are small as a rule, but none of them is as small as it could be. */
const MOST = 8 * 1024 * 1024
const DEFAULT_LIMIT = 100

/** A page as an answer. One that would be too large is asked for again with fewer items, so that `next` is right. */
export async function boundedPage<Options extends { readonly limit?: number | undefined }, Item>(
  query: Options,
  list: (options: Options) => Promise<Page<Item>>,
  view: (item: Item) => unknown = (item) => item,
  isWanted: (item: Item) => boolean = () => true,
): Promise<Answer> {
  let limit = query.limit ?? DEFAULT_LIMIT
  for (;;) {
    const { items, next } = await list({ ...query, limit })
    const answer = answerJson({ items: items.filter(isWanted).map(view), next })
    if (answer.text!.length <= MOST || items.length <= 1) return answer
    limit = Math.max(1, Math.floor(Math.min(limit, items.length) / 2))
  }
}

import type { Page } from 'cronce'

/** The items of a list, up to a number of pages, and whether there are more. */
export async function collect<Item>(
  { pages, limit }: { readonly pages: number; readonly limit: number },
  list: (page: { readonly limit: number; readonly after?: string | undefined }) => Promise<Page<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly cut: boolean }> {
  const items: Item[] = []
  let after: string | undefined
  for (let page = 0; page < pages; page++) {
    const found = await list({ limit, after })
    items.push(...found.items)
    if (found.next === null) return { items, cut: false }
    after = found.next
  }
  return { items, cut: true }
}

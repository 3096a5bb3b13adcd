import type { Page } from 'cronce'
import type { Args, Flags } from './args.ts'
import { wholeNumber } from './operands.ts'
import { UsageError } from './usage-error.ts'

/** For lists that may be long. */
export const PAGE_FLAGS = {
  limit: { type: 'string', short: 'n', value: 'N', help: 'How many, 1 to 1,000 (default 50)' },
  after: { type: 'string', value: 'CURSOR', help: 'Continue after this cursor: the "next" of the previous page' },
  all: { type: 'boolean', help: 'All pages' },
} as const satisfies Flags

const DEFAULT_LIMIT = 50

/** `null`: all of them. */
export function readLimit(args: Args): number | null {
  const limit = wholeNumber(args, 'limit', { min: 1, max: 1_000, otherwise: undefined })
  if (!args.has('all')) return limit ?? DEFAULT_LIMIT
  if (limit !== undefined) throw new UsageError('--all and --limit contradict each other.', 'Leave out one.')
  return null
}

/** One page, or with `--all` everything. Everything is held in memory, as a table must be. */
export async function readPage<Item>(
  args: Args,
  list: (page: { limit: number; after: string | undefined }) => Promise<Page<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly next: string | null }> {
  const limit = readLimit(args)
  let after = args.text('after')
  if (limit !== null) return list({ limit, after })
  const items: Item[] = []
  for (;;) {
    const page = await list({ limit: 1_000, after })
    items.push(...page.items)
    if (page.next === null) return { items, next: null }
    after = page.next
  }
}

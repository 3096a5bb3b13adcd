import { get } from './api.ts'
import type { Page, ScheduleView } from './types.ts'

const PAGE = 1_000
/** As many schedules as a list shows; a filter of the server finds the others. */
const PAGES = 10

export interface AllSchedules {
  readonly items: readonly ScheduleView[]
  /** There are more. */
  readonly cut: boolean
}

/** All schedules, up to 10,000. */
export async function allSchedules(signal: AbortSignal): Promise<AllSchedules> {
  const items: ScheduleView[] = []
  let after: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const found: Page<ScheduleView> = await get('schedules', { limit: PAGE, after }, signal)
    items.push(...found.items)
    if (found.next === null) return { items, cut: false }
    after = found.next
  }
  return { items, cut: true }
}

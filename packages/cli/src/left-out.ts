import type { Page, ScheduleView } from 'cronce'
import { isInternal } from 'cronce/internal'
import { formatCount } from './format.ts'

type List = (page: { readonly limit: number; readonly after: string | undefined }) => Promise<Page<ScheduleView>>

type Keeps = (schedule: ScheduleView) => boolean

const MOST = 1_000

/** A page of those that are kept, as long as any. `onRead` is given every schedule that was read, once. */
export async function filteredPage(
  list: List,
  { limit, after }: Parameters<List>[0],
  keeps: Keeps,
  onRead: (schedules: readonly ScheduleView[]) => void = () => {},
): Promise<Page<ScheduleView>> {
  const items: ScheduleView[] = []
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

/** Schedules without those behind locks, leaders and keys: programs make them, and there may be many. */
export class LeftOut {
  #count = 0

  isShown = (schedule: ScheduleView): boolean => {
    const isShown = !isInternal(schedule.job)
    if (!isShown) this.#count++
    return isShown
  }

  /** A page of the others, as long as any. */
  page(list: List, page: Parameters<List>[0], keeps: Keeps): Promise<Page<ScheduleView>> {
    const isShown: Keeps = (schedule) => !isInternal(schedule.job)
    return filteredPage(
      list,
      page,
      (schedule) => keeps(schedule) && isShown(schedule),
      (items) => {
        this.#count += items.filter((schedule) => keeps(schedule) && !isShown(schedule)).length
      },
    )
  }

  /** `null`: none was. */
  words(): string | null {
    if (this.#count === 0) return null
    const schedules = this.#count === 1 ? 'schedule' : 'schedules'
    return `${formatCount(this.#count)} ${schedules} behind locks, leaders or keys left out: add --all, or name them.`
  }
}

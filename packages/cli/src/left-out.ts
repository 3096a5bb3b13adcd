import type { Page, ScheduleView } from 'cronce'
import { isRunByCaller } from 'cronce/internal'
import { formatCount } from './format.ts'

type List = (page: { readonly limit: number; readonly after: string | undefined }) => Promise<Page<ScheduleView>>

const MOST = 1_000

/** Schedules without those behind locks, leaders, keys and slots of node-cron: programs make them, and there may be many. */
export class LeftOut {
  #count = 0

  isShown = (schedule: ScheduleView): boolean => {
    const isShown = !isRunByCaller(schedule.job)
    if (!isShown) this.#count++
    return isShown
  }

  /** A page of the others, as long as any. */
  async page(list: List, { limit, after }: Parameters<List>[0]): Promise<Page<ScheduleView>> {
    const items: ScheduleView[] = []
    for (let at = after, isAmongThem = false; ; ) {
      const room = limit - items.length
      const page = await list({ limit: isAmongThem ? MOST : room, after: at })
      const shown = page.items.filter(({ job }) => !isRunByCaller(job))
      // A page can be continued at its end only: what does not fit is asked for again.
      if (shown.length > room) {
        isAmongThem = false
        continue
      }
      this.#count += page.items.length - shown.length
      items.push(...shown)
      if (page.next === null || items.length === limit) return { items, next: page.next }
      at = page.next
      isAmongThem = shown.length === 0
    }
  }

  /** `null`: none was. */
  words(): string | null {
    if (this.#count === 0) return null
    const schedules = this.#count === 1 ? 'schedule' : 'schedules'
    return `${formatCount(this.#count)} ${schedules} behind locks, leaders, keys or slots of node-cron left out: add --all, or name them.`
  }
}

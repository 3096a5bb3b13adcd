import type { Page, ScheduleView } from 'cronce'
import { filteredPage, isInternal } from 'cronce/internal'
import { formatCount } from './format.ts'

type List = Parameters<typeof filteredPage<ScheduleView>>[0]

type Keeps = (schedule: ScheduleView) => boolean

/** Schedules without those that cronce keeps for itself: programs make them, and there may be many. */
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
    return `${formatCount(this.#count)} ${schedules} of cronce itself (locks, elections, keys, alerts, heartbeats) left out: add --all.`
  }
}

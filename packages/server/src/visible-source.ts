import { CronceError, type Page } from 'cronce'
import type { Source } from './source.ts'

type IsVisible = (schedule: string) => boolean
type Method = (...given: unknown[]) => Promise<unknown>

/** Pages that are read for one that would be empty: a caller may see few of many schedules. */
const PAGES_MOST = 20

/**
 * A source in which only some schedules exist. What names another one is told that there is none, also by methods that are added later:
 * a method that does not name a schedule first is refused unless it is listed here.
 */
export function visibleSource(source: Source, isVisible: IsVisible): Source {
  const { schedules, fires, runs, steps, activity, alerts, deployments } = source
  const isSeen = ({ schedule }: { readonly schedule: string }): boolean => isVisible(schedule)
  const parts = {
    schedules: {
      ...guard(schedules, isVisible),
      list: visiblePages(schedules.list, ({ name }) => isVisible(name)),
    },
    fires: { ...guard(fires, isVisible), list: visiblePages(fires.list, isSeen) },
    runs: { ...guard(runs, isVisible), list: visiblePages(runs.list, isSeen) },
    steps: guard(steps, isVisible),
    activity: {
      list: visiblePages(activity.list, ({ subject: { type, name } }) => type === 'schedule' && isVisible(name)),
    },
    alerts: {
      list: async (options?: Parameters<typeof alerts.list>[0]) =>
        (await alerts.list(options)).flatMap((alert) => {
          const subjects = alert.subjects.filter(({ name }) => isVisible(name))
          return subjects.length === 0 ? [] : [{ ...alert, subjects, count: subjects.length }]
        }),
      mutes: async () => (await alerts.mutes()).filter(({ subject }) => isVisible(subject)),
      unsent: async () => [],
    },
    instances: {
      list: async () =>
        (await source.instances.list()).map((one) => ({ ...one, jobs: one.jobs.filter((job) => isVisible(job)) })),
    },
    deployments: {
      get: async (app: string) => {
        const found = await deployments.get(app)
        return {
          ...found,
          deployments: found.deployments.map((one) => ({ ...one, declares: one.declares.filter(isVisible) })),
          refused: found.refused.filter(isSeen),
        }
      },
    },
  }
  const store = { value: source.store }
  const fields = Object.entries(parts).map(([name, value]) => [name, { value }] as const)
  return Object.create(null, { store, ...Object.fromEntries(fields) }) as Source
}

/** The methods of a part of the client, all of which name a schedule first: as text, or as the schedule of a fire. */
function guard<Methods extends object>(methods: Methods, isVisible: IsVisible): Methods {
  const guarded = Object.entries(methods as Record<string, Method>).map(([key, method]) => [
    key,
    async (...given: unknown[]) => {
      const name = nameIn(given[0])
      if (name === null || !isVisible(name)) throw notFound(name)
      // The hint of the client may name a schedule that the caller must not know.
      return method(...given).catch((error: unknown) => {
        throw error instanceof CronceError && error.code === 'SCHEDULE_NOT_FOUND' ? notFound(name) : error
      })
    },
  ])
  return Object.fromEntries(guarded) as Methods
}

function nameIn(given: unknown): string | null {
  const name = typeof given === 'object' && given !== null ? (given as { schedule?: unknown }).schedule : given
  return typeof name === 'string' ? name : null
}

function notFound(name: string | null): CronceError {
  const message = `There is no schedule ${JSON.stringify(name ?? '')}, or you may not see it.`
  return new CronceError('SCHEDULE_NOT_FOUND', message, { hint: 'GET /api/v1/schedules lists those that you see.' })
}

/** The pages of a list without what is hidden. A page may be short; it is empty only after many pages without anything to see. */
function visiblePages<Options extends { readonly after?: string | undefined }, Item>(
  list: (options?: Options) => Promise<Page<Item>>,
  isSeen: (item: Item) => boolean,
): (options?: Options) => Promise<Page<Item>> {
  return async (options) => {
    let page = await list(options)
    for (let read = 1; read < PAGES_MOST && page.next !== null && !page.items.some(isSeen); read++) {
      page = await list({ ...(options as Options), after: page.next })
    }
    return { items: page.items.filter(isSeen), next: page.next }
  }
}

import { CronceError, type NewSchedule, type Page, type ScheduleView, type WrittenSchedule } from 'cronce'
import { refuse } from './answer.ts'
import type { Seal, SealPurpose } from './seal.ts'
import type { Source } from './source.ts'

type IsVisible = (schedule: string) => boolean
type Method = (...given: unknown[]) => Promise<unknown>

/** Pages that one request may read in place of pages on which the caller sees nothing. After that, lists answer empty pages. */
const PAGES_INSTEAD = 10

/** What the parts of a visible source share. */
interface Sight {
  readonly isVisible: IsVisible
  readonly seal: Seal
  readonly find: Source['schedules']['find']
  pagesLeft: number
}

/**
 * A source in which only some schedules exist. Requests for another one get "not found", even by methods that are added later:
 * a method that does not name a schedule first is refused unless it is listed here.
 */
export function visibleSource(source: Source, isVisible: IsVisible, seal: Seal): Source {
  const { schedules, fires, runs, steps, activity, alerts, deployments } = source
  const sight: Sight = { isVisible, seal, find: schedules.find, pagesLeft: PAGES_INSTEAD }
  const isSeen = ({ schedule }: { readonly schedule: string }): boolean => isVisible(schedule)
  const parts = {
    schedules: {
      ...guard(schedules, sight),
      ...guardJobs(schedules, sight),
      list: async (options?: Parameters<typeof schedules.list>[0]) => {
        const { items, next } = await visiblePage(schedules.list, 'schedules', sight, ({ name }) => isVisible(name))(
          options,
        )
        return { items: items.map((view) => shownView(view, sight)), next }
      },
    },
    fires: { ...guard(fires, sight), list: visiblePage(fires.list, 'fires', sight, isSeen) },
    runs: { ...guard(runs, sight), list: visiblePage(runs.list, 'runs', sight, isSeen) },
    steps: guard(steps, sight),
    activity: {
      list: visiblePage(
        activity.list,
        'activity',
        sight,
        ({ subject: { type, name } }) => type === 'schedule' && isVisible(name),
      ),
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

/** Throws for a schedule that does not exist for the caller, whether or not it exists. */
export function demandVisible(name: string, isVisible: IsVisible): void {
  if (!isVisible(name)) throw notFound(name)
}

/** The methods of a part of the client, all of which name a schedule first: as text, or as the schedule of a fire. */
function guard<Methods extends object>(methods: Methods, sight: Sight): Methods {
  const guarded = Object.entries(methods as Record<string, Method>).map(([key, method]) => [
    key,
    async (...given: unknown[]) => {
      const name = nameIn(given[0])
      if (name === null || !sight.isVisible(name)) throw notFound(name)
      try {
        return shown(await method(...given), name, sight)
      } catch (error) {
        throw await shownError(error, name, sight)
      }
    },
  ])
  return Object.fromEntries(guarded) as Methods
}

/** A schedule runs its job with any input, so the caller has to see the job, too. */
function guardJobs(
  { create, put, replace }: Source['schedules'],
  sight: Sight,
): Pick<Source['schedules'], 'create' | 'put' | 'replace'> {
  const guarded = Object.entries(guard({ create, put, replace }, sight)).map(([key, write]) => [
    key,
    async (name: string, options: NewSchedule, more?: object) => {
      demandVisible(name, sight.isVisible)
      const { job } = options
      if (typeof job === 'string' && !sight.isVisible(job)) {
        const message = `There is no job ${JSON.stringify(job)}, or you may not use it.`
        throw refuse('ACCESS_RIGHT_MISSING', message, 'Use a job that you see, or ask those who run this server.')
      }
      const written: WrittenSchedule = await write(name, options, more)
      // The job that may have been meant is one of all jobs.
      return { ...written, warnings: written.warnings.map((text) => text.replace(/; did you mean .*\?$/, '.')) }
    },
  ])
  return Object.fromEntries(guarded)
}

function nameIn(given: unknown): string | null {
  const name = typeof given === 'object' && given !== null ? (given as { schedule?: unknown }).schedule : given
  return typeof name === 'string' ? name : null
}

function notFound(name: string | null): CronceError {
  const message = `There is no schedule ${JSON.stringify(name ?? '')}, or you may not see it.`
  return new CronceError('SCHEDULE_NOT_FOUND', message, { hint: SEE_LIST })
}

const SEE_LIST = 'GET /api/v1/schedules lists those that you see.'

/** What a method answers about a schedule. A trigger may find the fire of its key under a hidden name that the job had before. */
function shown(answer: unknown, name: string, sight: Sight): unknown {
  if (typeof answer !== 'object' || answer === null) return answer
  const { schedule } = ('fire' in answer ? answer.fire : answer) as { readonly schedule?: string }
  if (schedule !== undefined && !sight.isVisible(schedule)) throw notFound(name)
  return 'retirements' in answer ? shownView(answer as ScheduleView, sight) : answer
}

function shownView<View extends ScheduleView>(view: View, { isVisible }: Sight): View {
  const retirements = view.retirements.map(({ renamedTo, ...rest }) =>
    renamedTo === undefined || !isVisible(renamedTo) ? rest : { ...rest, renamedTo },
  )
  return { ...view, retirements }
}

/** Hints may name any schedule, and messages the other names of a renamed job. */
async function shownError(error: unknown, name: string, { find, isVisible }: Sight): Promise<unknown> {
  if (!(error instanceof CronceError)) return error
  if (error.code === 'SCHEDULE_NOT_FOUND') return notFound(name)
  const view = await find(name).catch(() => null)
  const names = (view?.retirements ?? []).flatMap(({ renamedTo }) => renamedTo ?? []).filter((one) => !isVisible(one))
  const without = (text: string): string => names.reduce((said, hidden) => said.replaceAll(hidden, '(hidden)'), text)
  const { hint = '' } = error
  // The schedules of hosts that a retired one has become.
  const isOnHosts = error.code === 'SCHEDULE_RETIRED' && hint.includes(`${name}@`)
  if (names.length === 0 && !isOnHosts) return error
  const seen = isOnHosts ? SEE_LIST : without(hint)
  return new CronceError(error.code, without(error.message), { hint: seen || undefined })
}

interface ListOptions {
  readonly after?: string | undefined
  readonly schedule?: string | undefined
  readonly fire?: { readonly schedule: string } | undefined
}

/**
 * A list without what is hidden. A page may be short, and is empty if the request has read enough pages without anything to see.
 * `next` is sealed: it says where the page ends, which may be at a hidden item.
 */
function visiblePage<Options extends object, Item>(
  list: (options?: Options & ListOptions) => Promise<Page<Item>>,
  purpose: SealPurpose,
  sight: Sight,
  isSeen: (item: Item) => boolean,
): (options?: Options & ListOptions) => Promise<Page<Item>> {
  const { isVisible, seal } = sight
  return async (options) => {
    const { after, schedule, fire } = options ?? {}
    if ([schedule, fire?.schedule].some((name) => name !== undefined && !isVisible(name)))
      return { items: [], next: null }
    const from = after === undefined ? undefined : openCursor(seal, purpose, after)
    let page = await list({ ...(options as Options), after: from })
    while (page.next !== null && sight.pagesLeft > 0 && !page.items.some(isSeen)) {
      sight.pagesLeft--
      page = await list({ ...(options as Options), after: page.next })
    }
    return { items: page.items.filter(isSeen), next: page.next === null ? null : seal.close(purpose, page.next) }
  }
}

function openCursor(seal: Seal, purpose: SealPurpose, after: string): string {
  const cursor = seal.open(purpose, after)
  if (cursor !== null) return cursor
  const hint = 'Begin with the first page. If several processes serve the API, give them the same cursorSecret.'
  throw refuse('CURSOR_INVALID', 'The cursor is of another list or another process.', hint)
}

import type { TriggerData } from '../../model/schedule.ts'
import type { Statement } from './database.ts'
import { openDatabase, type Target } from './open.ts'
import { DEFAULT_SCHEMA, quoteSchema } from './schema-name.ts'
import { schemaOfUrl } from './schema-of-url.ts'

/** What a role that may read only the views sees of a schedule. Instants are epoch milliseconds. */
export interface ViewedSchedule {
  readonly name: string
  readonly job: string
  readonly app: string | null
  readonly tenant: string | null
  readonly state: 'active' | 'paused' | 'retired' | 'finished'
  readonly trigger: TriggerData | null
  readonly nextAt: number | null
  readonly lastDueAt: number | null
  readonly lastSucceededAt: number | null
  readonly failedInRow: number
  readonly openFires: number
  readonly pausedAt: number | null
  readonly pausedUntilAt: number | null
  /** How its latest fires ended, the latest first. A range of due times counts as one. */
  readonly recent: readonly { readonly dueAt: number; readonly state: string; readonly count: number }[]
}

/** Which schedules `viewSchedules()` reads. */
export interface ViewQuery {
  /** @default 'cronce' */
  readonly schema?: string | undefined
  readonly namespace: string
  /** Names that begin with this. */
  readonly prefix: string
  /** Names after this one, which is not included. */
  readonly after: string
  readonly limit: number
  /** How many of the latest fires to return per schedule. */
  readonly recent: number
}

/** Schedules as the views of the database show them. */
export interface ViewedSchedules {
  /** The store's clock. */
  readonly now: number
  /** By name, ascending. */
  readonly items: readonly ViewedSchedule[]
}

/** Schedules as the views show them: for roles of `cronce migrate up --viewer`, which may not open the store. */
export async function viewSchedules(target: Target, query: ViewQuery): Promise<ViewedSchedules> {
  const named = typeof target === 'string' ? schemaOfUrl(target) : { url: target, schema: undefined }
  const { schema = named.schema ?? DEFAULT_SCHEMA, namespace, prefix, after, limit, recent } = query
  const database = openDatabase(named.url, { connections: 1, prepare: false, session: false, warn: () => {} })
  try {
    const values = [namespace, prefix, after, String(limit), String(recent)]
    return JSON.parse(await database.ask(statementFor(quoteSchema(schema)), values)) as ViewedSchedules
  } finally {
    await database.close()
  }
}

const ms = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`

function statementFor(schema: string): Statement {
  return {
    name: 'view-schedules',
    sql: `
select json_build_object(
         'now', ${ms('clock_timestamp()')},
         'items', coalesce((
           select json_agg(json_build_object(
                    'name', s.schedule, 'job', s.job, 'app', s.app, 'tenant', s.tenant, 'state', s.state,
                    'trigger', s.definition -> 'trigger', 'nextAt', ${ms('s.next_at')}, 'lastDueAt', ${ms('s.last_due_at')},
                    'lastSucceededAt', ${ms('s.last_succeeded_at')}, 'failedInRow', s.failed_in_row, 'openFires', s.open_fires,
                    'pausedAt', ${ms('s.paused_at')}, 'pausedUntilAt', ${ms('s.paused_until')},
                    'recent', coalesce((
                      select json_agg(json_build_object('dueAt', f.due_ms, 'state', f.state, 'count', f.instants) order by f.due_ms desc)
                        from (
                          select due_ms, state, instants
                            from ${schema}.fires
                           where namespace = $1::text and schedule = s.schedule
                           order by due_ms desc
                           limit $5::integer
                        ) f
                    ), '[]')
                  ) order by s.schedule collate "C")
             from (
               select *
                 from ${schema}.schedules
                where namespace = $1::text and starts_with(schedule, $2::text) and schedule collate "C" > $3::text
                order by schedule collate "C"
                limit $4::integer
             ) s
         ), '[]')
       )::text as answer`,
  }
}

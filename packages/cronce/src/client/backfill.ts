import type { FireRecord } from '../model/record.ts'
import { BACKFILL_PAGE, type BackfillPreview, previewBackfill, requestBackfill } from '../policy/plan/backfill.ts'
import { listFires, type ViewQuery } from '../store/list-views.ts'
import { readStore } from './ask-store.ts'
import { changeSchedule, type Decide, refusalError } from './change-schedule.ts'
import type { ClientParts } from './parts.ts'
import { AUTHORED, type Authored, authorOf, readCommand, readOperator } from './read-command.ts'
import { optionConflict, readBoolean, readInstant } from './read-option.ts'
import type { When } from './schedule-options.ts'

/** Options of `schedules.backfill()`. */
export interface BackfillOptions extends Authored {
  /** The first instant that counts. */
  readonly from: When
  /** The last instant that counts. */
  readonly to: When
  /** Also from before the schedule was made, or from when its job had another name: that may repeat fires. @default false */
  readonly force?: boolean | undefined
  /** Only say what would happen. @default false */
  readonly dryRun?: boolean | undefined
}

/** What a backfill will run. */
export interface BackfillAnswer {
  /** `null` after a dry run. */
  readonly id: string | null
  readonly preview: BackfillPreview
}

export async function backfill<Tx>(
  parts: ClientParts<Tx>,
  schedule: string,
  options: BackfillOptions,
): Promise<BackfillAnswer> {
  const fields = readCommand(options, ['from', 'to', 'force', 'dryRun', ...AUTHORED])
  const from = readInstant('from', fields.from)
  const to = readInstant('to', fields.to)
  if (to < from) throw optionConflict('The range ends before it starts.', 'Make to later than from.')
  const isDry = readBoolean('dryRun', fields.dryRun ?? false)
  const force = readBoolean('force', fields.force ?? false)
  const by = readOperator(fields)
  const id = parts.context().newId()
  let preview: BackfillPreview | undefined
  const decide: Decide = async (state, context) => {
    const decision = requestBackfill(state, { from, to, id, force, ...authorOf(by) }, context)
    if ('refused' in decision) throw refusalError(decision)
    preview = previewBackfill(state, { from, to }, await recordsBetween(parts, schedule, from, to), context)
    return isDry ? null : decision
  }
  await changeSchedule(parts, schedule, decide, { act: { action: 'backfill', by, changed: () => ({ id, from, to }) } })
  return { id: isDry ? null : id, preview: preview! }
}

/** The first page: a preview counts no further than it reaches, and says that there is more. */
async function recordsBetween<Tx>(
  { store }: ClientParts<Tx>,
  schedule: string,
  from: number,
  to: number,
): Promise<readonly FireRecord[]> {
  const stretch = { schedule, nonce: '', from, to: to + 1 }
  const query: ViewQuery = { ...stretch, order: 'earliest', limit: BACKFILL_PAGE, after: null }
  return (await readStore('list fires', () => listFires(store, query))).items
}

import type { ActivityRecord } from '../../model/activity.ts'
import { activityPage, compareActivity, readActivityPlace } from '../cursor.ts'
import type { ActivityQuery, Page } from '../store.ts'
import { encodeName, whole } from './keys.ts'
import type { AskScript } from './moment.ts'
import { LIST_ACTIVITY } from './scripts.ts'

/** Lines in one script: Redis serves no other client meanwhile. */
const BITE = 500

export async function listActivity(ask: AskScript, query: ActivityQuery): Promise<Page<ActivityRecord>> {
  const { schedule = '', from, to, limit } = query
  const place = readActivityPlace(query)
  const latest = Math.min(place?.at ?? Number.MAX_SAFE_INTEGER, (to ?? Number.MAX_SAFE_INTEGER) - 1)
  const bounds = [encodeName(schedule), whole(latest), from === undefined ? '-inf' : whole(from)]
  const found: ActivityRecord[] = []
  for (let passed = 0; ; passed += BITE) {
    const { now, lines } = await ask(LIST_ACTIVITY, [...bounds, String(passed), String(BITE)])
    for (const text of lines) {
      const line: ActivityRecord | null = text === '' ? null : JSON.parse(text)
      if (line !== null && (place === null || compareActivity(line, place) > 0)) found.push(line)
    }
    if (found.length > limit || lines.length < BITE) return activityPage(now, found, query)
  }
}

import type { ScheduleView } from 'cronce'
import { formatUtc } from '../format.ts'
import { placementWords } from '../placement-words.ts'
import { policyWords } from '../policy-words.ts'
import { triggerText, triggerWords, triggerZone } from '../trigger-words.ts'
import { canonical } from './find-changes.ts'

/** One thing that differs, in words for people. */
export interface Difference {
  readonly what: string
  readonly before: string
  readonly after: string
}

/** What a deployment changes about a schedule. Inputs are not shown: they may contain what is not for everyone. */
export function differencesOf(before: ScheduleView, after: ScheduleView): readonly Difference[] {
  const rows = rowsOf(after)
  const changed = rowsOf(before).flatMap(([what, was], index): Difference[] => {
    const [, is] = rows[index]!
    return was === is ? [] : [{ what, before: was, after: is }]
  })
  const hasInput = canonical(before.input) === canonical(after.input)
  return hasInput ? changed : [...changed, { what: 'input', before: 'the old one', after: 'another one' }]
}

/** The same rows for each schedule. */
function rowsOf(schedule: ScheduleView): readonly (readonly [what: string, words: string])[] {
  const { trigger, startAt, endAt, limit, tenant, on, policy } = schedule
  return [
    ['rule', ruleWords(schedule)],
    ['zone', triggerZone(trigger)],
    ['calendar', calendarText(trigger)],
    ['clock changes', clockText(trigger)],
    ['start', startAt === null ? 'none' : formatUtc(startAt)],
    ['end', endAt === null ? 'none' : formatUtc(endAt)],
    ['limit', limit === null ? 'none' : String(limit)],
    ['tenant', tenant ?? 'none'],
    ['runs on', placementWords(on) ?? 'any instance'],
    ...policyWords(policy),
  ]
}

/** The expression with its words. */
export function ruleWords({ trigger }: Pick<ScheduleView, 'trigger'>): string {
  const text = triggerText(trigger)
  const words = triggerWords(trigger)
  return trigger?.kind === 'cron' ? `${text} (${words})` : words
}

function calendarText(trigger: ScheduleView['trigger']): string {
  if (trigger?.kind !== 'cron' || trigger.calendar === undefined) return 'none'
  const { name = 'days of its own', excluded = 'skip', days } = trigger.calendar
  return `${name}, ${excluded}, ${days}`
}

function clockText(trigger: ScheduleView['trigger']): string {
  if (trigger?.kind !== 'cron') return 'none'
  const { dst = 'auto', gap = 'auto', overlap = 'auto' } = trigger
  return [dst, gap, overlap].every((rule) => rule === 'auto') ? 'auto' : `dst ${dst}, gap ${gap}, overlap ${overlap}`
}

import { signal } from '@preact/signals'
import { ruleText } from './format.ts'
import type { ScheduleView } from './types.ts'

type Words = typeof import('./words-of-cli.ts')

/** The words of the command line, loaded after the first paint: a rule is shown as it was written until then. */
const loaded = signal<Words | null>(null)
let isAsked = false

function words(): Words | null {
  if (!isAsked) {
    isAsked = true
    void import('./words-of-cli.ts').then((module) => {
      loaded.value = module
    })
  }
  return loaded.value
}

/** When a schedule is due, in words. */
export function ruleWords(schedule: Pick<ScheduleView, 'trigger'>): string {
  try {
    return words()?.triggerWords(schedule.trigger) ?? ruleText(schedule)
  } catch {
    // A rule of a newer version.
    return ruleText(schedule)
  }
}

/** What a schedule does when something is not as it should be. */
export function policyWords(policy: ScheduleView['policy']): readonly (readonly [name: string, words: string])[] {
  return words()?.policyWords(policy) ?? []
}

/** The call that makes this schedule; empty until the words are loaded. */
export function codeOf(schedule: ScheduleView): string {
  return words()?.asCode(schedule) ?? ''
}

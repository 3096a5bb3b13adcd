import type { Place } from '../facts/place.ts'
import type { Project } from '../join/project.ts'

export type Level = 'error' | 'warning' | 'info'

/** What a rule says about one place. */
export interface Finding {
  readonly rule: string
  readonly level: Level
  readonly place: Place
  /** One sentence: what is wrong here, with the value. */
  readonly message: string
  /** Other places that belong to it, such as the line that starts several instances. */
  readonly related?: readonly { readonly place: Place; readonly text: string }[]
}

/** Path to text. */
export type Example = Readonly<Record<string, string>>

export interface Rule {
  readonly id: string
  /** What `check` reports unless it has a reason to raise or lower it. */
  readonly level: Level
  /** Whether the rule counts in the score over labelled files. */
  readonly isScored: boolean
  /** A few words, for lists. */
  readonly title: string
  /** One line: why it is dangerous. */
  readonly why: string
  /** One line: how to fix it. */
  readonly fix: string
  /** The smallest example of each. Both are tests. */
  readonly bad: Example
  readonly good: Example
  check(project: Project): readonly Finding[]
}

/** A finding of a rule, at the level of the rule unless another is given. */
export function report(rule: Rule, place: Place, message: string, level: Level = rule.level): Finding {
  return { rule: rule.id, level, place, message }
}

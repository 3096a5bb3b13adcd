import type { Case, Subject } from '../case.ts'
import { compareTokens, type Story } from '../evidence.ts'
import type { Effect } from '../history.ts'
import { fireText, type Judge, type Report } from '../report.ts'
import { areRoundsApart } from './rounds-apart.ts'

/** C3 and C8. */
export const judgeEffects: Judge = (judged, report) => {
  for (const subject of judged.schedules) {
    for (const story of subject.stories.values()) {
      if (story.effects.length === 0) continue
      const accepted = story.effects.filter(({ accepted }) => accepted)
      judgeSteps(
        story,
        accepted.filter(({ sink }) => sink === 'step'),
        report,
      )
      judgeTransactions(
        judged,
        subject,
        story,
        accepted.filter(({ sink }) => sink === 'transaction'),
        report,
      )
      judgeFenced(
        story,
        accepted.filter(({ sink }) => sink === 'fenced'),
        report,
      )
      judgeLostTransactions(story, report)
    }
  }
}

/** A step is done once in the life of a fire, also if that has several rounds. */
function judgeSteps(story: Story, steps: readonly Effect[], report: Report): void {
  const first = new Map<string, Effect>()
  for (const step of steps) {
    const earlier = first.get(step.key)
    first.set(step.key, earlier ?? step)
    if (earlier === undefined) continue
    const runs = `by run ${earlier.token} and again by run ${step.token}`
    const message = `${fireText(story)}: the step ${step.key} was done ${runs}.`
    report('C3', story, message, [earlier, step])
  }
}

/** One run of a round commits, and it is the one that ended the round. */
function judgeTransactions(
  { final }: Case,
  subject: Subject,
  story: Story,
  commits: readonly Effect[],
  report: Report,
): void {
  for (const [index, commit] of commits.entries()) {
    const run = story.runs.find(({ token }) => token === commit.token)
    const earlier = commits.slice(0, index).find((other) => !areRoundsApart(subject, story, other, commit))
    if (earlier !== undefined) {
      const message = `${fireText(story)} committed twice, by run ${earlier.token} and by run ${commit.token}.`
      report('C3', story, message, [earlier, commit])
    }
    if (run === undefined || run.outcome === 'succeeded' || commit.at > final.at) continue
    const how = run.outcome === null ? 'is open' : `ended ${run.outcome} (${run.reason})`
    const message = `${fireText(story)}: run ${commit.token} committed, although it ${how} on record.`
    report('C8', story, message, [commit, run])
  }
}

/** A run that is recorded as succeeded, and tried to commit, has committed. */
function judgeLostTransactions(story: Story, report: Report): void {
  const tried = story.effects.filter(({ sink }) => sink === 'transaction')
  for (const effect of tried) {
    if (tried.some(({ token, accepted }) => token === effect.token && accepted)) continue
    const run = story.runs.find(({ token }) => token === effect.token)
    if (run?.outcome !== 'succeeded') continue
    const message = `${fireText(story)}: run ${effect.token} succeeded on record, but what it committed is not there.`
    report('C3', story, message, [effect, run])
  }
}

function judgeFenced(story: Story, effects: readonly Effect[], report: Report): void {
  const newest = new Map<string, Effect>()
  for (const effect of effects) {
    const known = newest.get(effect.key)
    if (known === undefined || compareTokens(known.token, effect.token) <= 0) {
      newest.set(effect.key, effect)
      continue
    }
    const message = `${fireText(story)}: ${effect.key} took token ${effect.token} after token ${known.token}.`
    report('C8', story, message, [known, effect])
  }
}

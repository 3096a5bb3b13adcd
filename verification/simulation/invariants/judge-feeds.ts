import type { FeedEntry } from '../../../packages/cronce/src/client/feed.ts'
import type { FireRecord, RunRecord } from '../../../packages/cronce/src/model/record.ts'
import type { Step, Touched } from './mirror.ts'
import type { Report } from './report.ts'

/** What a feed reported, as it reports it. */
export interface FeedWitness {
  /** It is ready, for the first time or after it broke off. */
  readonly ready: () => void
  readonly told: (entry: FeedEntry) => void
  /** The store was healthy for long enough that everything committed until then must have been reported. */
  readonly finish: (committedUntil: number) => void
}

export interface FeedJudge {
  readonly changed: (step: Step) => void
  readonly listen: (name: string) => FeedWitness
}

/**
 * The promise of a feed: every end that is committed after it is ready is reported, or a gap follows that commit. Ends
 * are derived from the store's data before and after each write, not from the store's own list of ends.
 */
export function judgeFeeds(worldNow: () => number, report: Report): FeedJudge {
  /** By feed: ends that are yet to be reported, and when they were committed. */
  const feeds = new Set<Map<string, number>>()
  return {
    changed(step) {
      if (feeds.size === 0) return
      for (const owed of feeds) {
        for (const key of reopenedIn(step)) owed.delete(key)
        for (const key of endsOf(step)) owed.set(key, worldNow())
      }
    },
    listen(name) {
      const owed = new Map<string, number>()
      return {
        ready() {
          owed.clear()
          feeds.add(owed)
        },
        told(entry) {
          if (entry.kind === 'gap') owed.clear()
          else if (entry.kind === 'run.ended') owed.delete(runKey(entry.run))
          else if (entry.kind === 'fire.ended') owed.delete(fireKey(entry.fire))
        },
        finish(committedUntil) {
          feeds.delete(owed)
          const lost = [...owed].filter(([, at]) => at <= committedUntil)
          const [first] = lost
          if (first === undefined) return
          const [key, at] = first
          report('F1 feed', `${name} never reported ${lost.length} ends, the first ${key}, committed at ${at} ms`)
        },
      }
    },
  }
}

/** Ends that were undone: an operator's retry opens the fire again. */
function reopenedIn({ fires }: Step): string[] {
  return fires.flatMap(({ before, after }) =>
    before !== undefined && before.ending !== null && after?.ending === null ? [fireKey(before)] : [],
  )
}

function endsOf({ fires, runs }: Step): string[] {
  const ended = runs.filter(hasEnded)
  const own = fires.filter(({ before, after }) => {
    if (after === undefined || after.ending === null) return false
    const isNew = before === undefined || before.ending === null || before.round !== after.round
    return isNew && !ended.some((run) => isEndOf(run, after))
  })
  return [...ended.map(({ after }) => runKey(after!)), ...own.map(({ after }) => fireKey(after!))]
}

function hasEnded({ before, after }: Touched<RunRecord>): boolean {
  return after !== undefined && after.ending !== null && (before === undefined || before.ending === null)
}

function isEndOf({ after: run }: Touched<RunRecord>, fire: FireRecord): boolean {
  return run?.dueAt === fire.dueAt && run.nonce === fire.nonce && run.ending?.reason === fire.ending?.reason
}

function runKey({ schedule, token }: Pick<RunRecord, 'schedule' | 'token'>): string {
  return `run ${token} of ${schedule}`
}

function fireKey({
  schedule,
  dueAt,
  nonce,
  round,
}: Pick<FireRecord, 'schedule' | 'dueAt' | 'nonce' | 'round'>): string {
  return `fire ${dueAt} ${nonce} of ${schedule}, round ${round}`
}

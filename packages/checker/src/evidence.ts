import {
  type Effect,
  type Finish,
  type History,
  type Instant,
  type Ledger,
  type LedgerFire,
  type LedgerRun,
  type Operation,
  type RunOfFire,
  type Start,
  withClaim,
} from './history.ts'

/** All that is known about one fire, from both witnesses. */
export interface Story {
  readonly schedule: string
  readonly dueAt: Instant
  readonly nonce: string
  /** As the last read that has it shows it. */
  record: LedgerFire | null
  /** The last read has it. */
  isInFinal: boolean
  /** By token. */
  runs: LedgerRun[]
  readonly starts: Start[]
  readonly finishes: Map<string, Finish>
  readonly effects: Effect[]
}

/** What belongs to one schedule. */
export interface Dossier {
  readonly id: string
  /** Events that may have happened. */
  readonly operations: Operation[]
  readonly stories: Map<string, Story>
  /** Records of more than one instant, from the last read. */
  readonly ranges: LedgerFire[]
  /** Records of one instant or more whose key the last read has twice. */
  readonly doubles: LedgerFire[]
}

export function evidenceOf(history: History, final: Ledger): ReadonlyMap<string, Dossier> {
  const dossiers = new Map<string, Dossier>()
  const of = (id: string): Dossier => {
    const known = dossiers.get(id)
    if (known !== undefined) return known
    const made: Dossier = { id, operations: [], stories: new Map(), ranges: [], doubles: [] }
    dossiers.set(id, made)
    return made
  }
  for (const { id } of final.schedules) of(id)
  for (const entry of history.entries) {
    if (entry.kind === 'operation' && entry.result !== 'fail') of(entry.schedule).operations.push(entry)
    else if (entry.kind === 'start') storyOf(of(entry.schedule), entry).starts.push(entry)
    else if (entry.kind === 'finish') storyOf(of(entry.schedule), entry).finishes.set(entry.token, entry)
    else if (entry.kind === 'effect') storyOf(of(entry.schedule), entry).effects.push(entry)
  }
  for (const read of history.reads) if (read !== final) addRead(of, read)
  addFinal(of, final)
  const shown = new Set(final.runs)
  for (const { stories } of dossiers.values()) {
    for (const story of stories.values()) {
      // Open in an earlier read and absent in the last one: it has ended at an unknown time.
      const known = story.runs.filter((run) => run.endedAt !== null || shown.has(run))
      story.runs = known.map((run) => withClaim(run, story.record)).sort(byToken)
    }
  }
  return dossiers
}

export function keyOf({ dueAt, nonce }: Pick<RunOfFire, 'dueAt' | 'nonce'>): string {
  return `${dueAt} ${nonce}`
}

function storyOf(dossier: Dossier, fire: Pick<RunOfFire, 'dueAt' | 'nonce'>): Story {
  const key = keyOf(fire)
  const known = dossier.stories.get(key)
  if (known !== undefined) return known
  const { dueAt, nonce } = fire
  const story: Story = {
    ...{ schedule: dossier.id, dueAt, nonce, record: null, isInFinal: false },
    ...{ runs: [], starts: [], finishes: new Map(), effects: [] },
  }
  dossier.stories.set(key, story)
  return story
}

function addRead(of: (id: string) => Dossier, read: Ledger): void {
  for (const fire of read.fires) if (fire.untilAt === null) storyOf(of(fire.schedule), fire).record = fire
  for (const run of read.runs) addRun(of(run.schedule), run)
}

function addFinal(of: (id: string) => Dossier, final: Ledger): void {
  for (const fire of final.fires) {
    const dossier = of(fire.schedule)
    if (fire.untilAt !== null) {
      dossier.ranges.push(fire)
      continue
    }
    const story = storyOf(dossier, fire)
    if (story.isInFinal) dossier.doubles.push(fire)
    story.record = fire
    story.isInFinal = true
  }
  for (const run of final.runs) addRun(of(run.schedule), run)
}

function addRun(dossier: Dossier, run: LedgerRun): void {
  const { runs } = storyOf(dossier, run)
  const index = runs.findIndex(({ token }) => token === run.token)
  if (index < 0) runs.push(run)
  else runs[index] = run
}

/** In the order in which a schedule grants them: it counts them. */
export function byToken(a: { readonly token: string }, b: { readonly token: string }): number {
  return compareTokens(a.token, b.token)
}

/** Decimal numbers without leading zeros: the longer one is the larger one. */
export function compareTokens(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

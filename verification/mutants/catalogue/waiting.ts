import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

const littleRoom = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/engine/little-room.test.ts',
  names,
})

/** Mistakes about fires that wait for room or for their turn. */
export const WAITING_MUTANTS: readonly Mutant[] = [
  {
    name: 'waiting-behind-used-up-limits',
    rule: 'P3',
    breaks: 'Limits that are tried again take the room of schedules that may start.',
    edits: [
      edit(
        'engine/claim/looks.ts',
        'core.fullLimits.sort(found.schedules.filter(isFor), found.now)',
        'found.schedules.filter(isFor)',
      ),
    ],
    caughtBy: littleRoom('a schedule without a limit is not kept waiting by many limits that are used up'),
  },
  {
    name: 'waiting-beyond-used-up-limits',
    rule: 'P3',
    breaks: 'Schedules whose limit is used up hide others of the same job from a look.',
    edits: [edit('engine/claim/look.ts', 'memory.passedOver + 2 * memory.leftOut', 'memory.passedOver')],
    caughtBy: littleRoom(
      'a schedule without a limit is not kept waiting by many of the same job whose limit is used up',
    ),
  },
  {
    name: 'used-up-for-a-higher-limit',
    rule: 'P3',
    breaks: 'A group that is used up for one schedule counts as used up for those whose limit is higher.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the line
    edits: [edit('engine/claim/full-limits.ts', 'return `${limit} ${slot}`', 'return slot.slice(0, limit * 1_000)')],
    caughtBy: littleRoom('a group that is used up for one schedule has places for another whose limit is higher'),
  },
  {
    name: 'used-up-for-the-whole-schedule',
    rule: 'P3',
    breaks: 'A fire whose limit is used up is claimed together with others of its schedule, and all are refused.',
    edits: [edit('policy/plan/start.ts', ' || claimant.isFull?.(slots))', ')')],
    caughtBy: littleRoom(
      'a fire that counts against a used-up limit does not hold back others of its schedule that do not',
    ),
  },
  {
    name: 'used-up-and-asked-for-ever',
    rule: 'P3',
    breaks: 'An instance asks for a limit that is used up as often as after the first refusal.',
    edits: [edit('engine/claim/full-limits.ts', 'const LONGEST_MS = 4_000', 'const LONGEST_MS = FIRST_MS')],
    caughtBy: littleRoom('a used-up limit is asked for less and less often, and found soon after a peer has freed it'),
  },
  {
    name: 'used-up-and-not-left-out',
    rule: 'P3',
    breaks: 'Schedules whose limit is used up are read again and again, although none of their fires may start.',
    edits: [edit('engine/claim/looks.ts', ' && !isKept(state)', '')],
    caughtBy: littleRoom('a used-up limit is asked for less and less often, and found soon after a peer has freed it'),
  },
  {
    name: 'used-up-and-not-planned',
    rule: 'P7',
    breaks: 'Of the schedules that wait for a limit, only those are planned whose claim it refused.',
    edits: [
      edit(
        'engine/claim/claims.ts',
        'due.schedules.filter(isKept)',
        'due.schedules.filter((state) => isKept(state) && decisions.some(({ change }) => change.id === state.id))',
      ),
    ],
    caughtBy: littleRoom('instants are decided in time though their limit is used up and there is one free slot'),
  },
  {
    name: 'used-up-and-not-forgotten',
    rule: 'P7',
    breaks: 'What has waited for a limit waits behind all newer work for another minute after the limit is free.',
    edits: [edit('engine/claim/full-limits.ts', 'const FORGOTTEN_MS = 10_000', 'const FORGOTTEN_MS = 60_000')],
    caughtBy: littleRoom(
      'a fire that waited for a used-up limit gets its turn once the limit is free, though there is always newer work',
    ),
  },
  {
    name: 'last-look-ends-at-a-limit',
    rule: 'rule 42',
    breaks: 'A process that only runs what is due leaves when a claim meets a limit that is used up.',
    edits: [edit('engine/claim/looks.ts', ' || core.fullLimits.learned > learned)', ')')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run-due.test.ts',
      names: ['runDue runs what is due behind limits that are used up, though it has room for one run'],
    },
  },
  {
    name: 'waiting-is-never-late',
    rule: 'P7, rule 43',
    breaks: 'A fire that was planned on time is not checked again: stale fires pile up while the limit is used up.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        'of judgeLate(among, draft.context.now)) {',
        'of judgeLate(among, draft.context.now).filter(({ fire: { wait } }) => wait?.late)) {',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C11'] },
  },
  {
    name: 'waiting-does-not-count',
    rule: 'P7, rule 43',
    breaks: 'A fire that waits for room does not count for overlap.',
    edits: [
      edit(
        'policy/plan/on-time.ts',
        "misfire.late === 'all' ? [] : onTimeWaiters",
        "misfire.late !== 'skip' ? [] : onTimeWaiters",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C7'] },
  },
  {
    name: 'replace-ends-what-was-asked-for',
    rule: 'rule 43',
    breaks: 'A fire that replaces others also ends the waiting fires that a person asked for.',
    edits: [edit('policy/plan/on-time.ts', ': isUnasked(other) && (step.isAsked', ': (step.isAsked')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/overlap.test.ts',
      names: ['replace: what a person asked for and still waits is not ended by a later fire'],
    },
  },
  {
    name: 'late-keeps-its-place',
    rule: 'P7, rule 43',
    breaks: 'A late fire that waits keeps new instants from being opened.',
    edits: [
      edit(
        'policy/plan/waiting.ts',
        'isJudged(fire, choices) && fire.readyAt <= now && !isLate(fire, among, now)',
        'isJudged(fire, choices) && fire.readyAt <= now',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C10'] },
  },
  {
    name: 'turn-is-late',
    rule: 'P7, rule 43',
    breaks: 'A fire that waits in a queue is late for the time that the active one takes.',
    edits: [edit('policy/plan/waiting.ts', "return overlap.kind === 'queue' || misfire", 'return misfire')],
    caughtBy: { judge: 'simulation', names: ['C10'] },
  },
  {
    name: 'superseded-by-the-skipped',
    rule: 'rule 43',
    breaks: 'The latest late fire gives way to newer ones that overlap skips: none of them runs.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        "  return verdict !== 'skip' && verdict !== 'queue-full'\n",
        '  return verdict.length > 0\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C10'] },
  },
  {
    name: 'late-without-a-cause',
    rule: 'rule 43',
    breaks: 'Why a fire that waited for room started late is not on record.',
    edits: [edit('policy/plan/start.ts', "  return fire.wait?.cause ?? 'room'\n", '  return undefined\n')],
    caughtBy: { judge: 'simulation', names: ['C11'] },
  },
  {
    name: 'every-cause-is-room',
    rule: 'rule 43',
    breaks: 'The recorded reason for a late start is always the limit.',
    edits: [edit('policy/plan/start.ts', "  return fire.wait?.cause ?? 'room'\n", "  return 'room'\n")],
    caughtBy: { judge: 'simulation', names: ['C10'] },
  },
  {
    name: 'freed-place-not-seen',
    rule: 'P7',
    breaks: 'The place that a run of this instance frees is found when the back-off of its limit ends, not at once.',
    edits: [edit('engine/run/settle-run.ts', 'core.fullLimits.free(run.started.fire.run.slots ?? [])', 'false')],
    caughtBy: littleRoom(
      'a job that waits for a place in a group gets one, though another job of the group always has a fire that waits',
    ),
  },
  {
    name: 'left-behind-not-decided',
    rule: 'P7',
    breaks: 'An instance that always has older work and some room decides about nothing else.',
    edits: [edit('engine/claim/backlog.ts', 'Math.min(this.#leftSince + BEHIND_MS, (this', 'Math.max(0, (this')],
    caughtBy: littleRoom(
      'instants are decided in time though an instance always has older work, and free slots only now and then',
    ),
  },
  {
    name: 'waiters-hide-what-is-left',
    rule: 'P7',
    breaks: 'Behind as many schedules that wait as one look shows, nothing is decided.',
    edits: [edit('engine/claim/backlog.ts', 'Math.min(this.#pages * 2, MOST_PAGES)', '1')],
    caughtBy: littleRoom('instants are decided in time though more schedules wait for a slot than one look shows'),
  },
  {
    name: 'last-look-has-no-end',
    rule: 'rule 42',
    breaks: 'A process that only runs what is due stays for what becomes due meanwhile.',
    edits: [edit('engine/instance.ts', ', isLast: true }', ' }')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run-due.test.ts',
      names: ['runDue leaves fires that become due while it works, however long the work takes'],
    },
  },
]

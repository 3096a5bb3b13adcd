import { type CaughtBy, edit, type Mutant } from '../mutant.ts'

/** The shortcuts of `policy/plan/plain-fire.ts` are compared with the policy. */
const compared = (...names: string[]): CaughtBy => ({
  judge: 'tests',
  file: 'packages/cronce/test/policy/plain.test.ts',
  names,
})
const PLAYED = 'the shortcuts decide what the policy decides, for every history of a schedule with a plain definition'

/** Mistakes in planning: which instants become what, and which of them may start. */
export const PLAN_MUTANTS: readonly Mutant[] = [
  {
    name: 'due-is-now',
    rule: 'P1, rule 2, classic (h)',
    breaks: 'A fire that is caught up with is written down as due now.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        '  openFire(draft, { ...fireOf(draft, instant), wait })\n',
        '  openFire(draft, { ...fireOf(draft, instant), dueAt: draft.context.now, wait })\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C4', 'C10'] },
  },
  {
    name: 'next-from-now',
    rule: 'P5, protocol (loses catch-up)',
    breaks: 'The next instant is looked for from now on, not from the one before it.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        '    at = nextOf(series, state.definition, state.fired + instants.length, at)\n  }\n  while',
        '    at = nextOf(series, state.definition, state.fired + instants.length, context.now)\n  }\n  while',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S13', 'C1', 'C10'] },
  },
  {
    name: 'missed-not-recorded',
    rule: 'P5, classic (d)',
    breaks: 'The mark passes skipped instants, and only a handful of them is recorded.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        'const range = { untilAt: instants.at(-1)!.dueAt, count: instants.length, trigger: data }',
        'const range = { untilAt: instants.at(-1)!.dueAt, count: instants.length - 1, trigger: data }',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C10'] },
  },
  {
    name: 'latest-is-oldest',
    rule: 'rule 23',
    breaks: 'Of the instants that are late, the oldest one runs instead of the latest.',
    edits: [
      edit(
        'policy/plan/misfire.ts',
        "    return index >= firstKept ? 'run' : LET_GO[policy.late]\n",
        "    return index < latenessMs.length - firstKept ? 'run' : LET_GO[policy.late]\n",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C11', 'C10'] },
  },
  {
    name: 'late-skip-runs',
    rule: 'P7',
    breaks: 'Where late fires are to be skipped, the latest of them runs.',
    edits: [
      edit(
        'policy/plan/misfire.ts',
        "    case 'skip':\n      return 0\n",
        "    case 'skip':\n      return beyond.newer ? 0 : 1\n",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C4', 'C11'] },
  },
  {
    name: 'on-time-is-late',
    rule: 'P7',
    breaks: 'The grace is read as seconds instead of milliseconds: fires that are hardly late are skipped.',
    edits: [
      edit(
        'policy/plan/misfire.ts',
        'return latenessMs <= policy.graceMs',
        'return latenessMs <= policy.graceMs / 1_000',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C10', 'C1'] },
  },
  {
    name: 'lateness-from-due',
    rule: 'rule 2',
    breaks: 'Lateness counts from the due time, so that jitter makes fires late.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        'const lateness = found.instants.map(({ readyAt }) => now - readyAt)',
        'const lateness = found.instants.map(({ dueAt }) => now - dueAt)',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/model.test.ts',
      names: ['random commands, judged by a naive reading of the policies'],
    },
  },
  {
    name: 'jitter-beyond-the-next',
    rule: 'rule 2',
    breaks: 'Jitter may hold a fire back until after the next one is due.',
    edits: [
      edit(
        'policy/plan/jitter.ts',
        'return nextDueAt === null ? readyAt : Math.min(readyAt, nextDueAt - 1)',
        'return readyAt',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C6'] },
  },
  {
    name: 'retries-are-late',
    rule: 'rule 23',
    breaks: 'A fire that waits for another attempt is judged as late, like one that was never begun.',
    edits: [
      edit(
        'policy/plan/waiting.ts',
        '  if (isActive(fire) || !isUnasked(fire)) return false\n',
        '  if (fire.run !== null || !isUnasked(fire)) return false\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C10', 'C1'] },
  },
  {
    name: 'started-while-paused',
    rule: 'rule 24',
    breaks: 'A pause stops planning, and lets what waits or is to be retried start.',
    edits: [
      edit(
        'policy/plan/wake.ts',
        "return isEnded(state) || (state.pause !== null && fire.kind !== 'manual')",
        "return isEnded(state) || (state.pause !== null && fire.kind === 'backfill')",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C13'] },
  },
  {
    name: 'planned-while-paused',
    rule: 'rule 24',
    breaks: 'A pause that has an end does not keep instants from being planned.',
    edits: [
      edit(
        'policy/plan/advance.ts',
        "  if (draft.state.pause === null) plan(draft, 'ready', known, most)\n",
        "  if (draft.state.pause === null || draft.state.pause.until !== null) plan(draft, 'ready', known)\n",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C10', 'C11', 'C13'] },
  },
  {
    name: 'every-chunk-has-its-latest',
    rule: 'rule 28',
    breaks: 'In a stretch that takes several steps, each step runs its latest instant.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        'const newer = leavesLate ? hasNewer(stretch) : opensNewer(draft',
        'const newer = opensNewer(draft',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/plan.test.ts',
      names: ['a very long stretch is settled in steps, of which only the last knows the latest'],
    },
  },
  {
    name: 'a-step-supersedes-for-nothing',
    rule: 'rule 28',
    breaks: 'A step ends its latest late instant as superseded, although overlap may end all that follow.',
    edits: [edit('policy/plan/plan.ts', 'const stretch = leavesLate ? leaveLatest(found) :', 'const stretch =')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/plan.test.ts',
      names: [
        'the latest late instant runs after a very long stretch if overlap ends all instants that are on time',
        'the latest late instant runs after a very long stretch if all instants after it are on record',
      ],
    },
  },
  {
    name: 'plans-with-old-zones',
    rule: 'rule 31',
    breaks: 'An instance with older zone data plans while one with newer data lives.',
    edits: [
      edit('policy/plan/move-zone.ts', 'return state.zoneData === null || zoneData >= newestLive', 'return true'),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/zone-and-jitter.test.ts',
      names: ['an instance with older data does not plan a zone while a newer one lives'],
    },
  },
  {
    name: 'zones-never-move',
    rule: 'rule 31',
    breaks: 'Newer zone data is written down, and the next instant stays that of the old.',
    edits: [
      edit(
        'policy/plan/move-zone.ts',
        '  set(draft, { nextAt, zoneData: context.zoneData })\n',
        '  set(draft, { zoneData: context.zoneData })\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/zone-and-jitter.test.ts',
      names: ['newer zone data finds the next instant again, from what is settled on'],
    },
  },
  {
    name: 'shortcut-over-a-pause',
    rule: 'rule 24',
    breaks: 'The shortcut for plain fires plans and starts a fire of a paused schedule.',
    edits: [
      edit('policy/plan/plain-fire.ts', 'return pause === null && retiredAt === null', 'return retiredAt === null'),
    ],
    caughtBy: compared('the shortcuts leave a schedule that is paused to the policy'),
  },
  {
    name: 'shortcut-of-a-late-fire',
    rule: 'rule 43',
    breaks: 'The shortcut for plain fires starts late fires, ignoring the misfire policy.',
    edits: [
      edit(
        'policy/plan/plain-fire.ts',
        'return isOnTime(policy.misfire ?? DEFAULT_POLICY.misfire, now - dueAt)',
        'return true',
      ),
    ],
    caughtBy: compared(PLAYED),
  },
  {
    name: 'shortcut-of-several-instants',
    rule: 'P5',
    breaks: 'The shortcut for plain fires starts one instant though the next one is due as well.',
    edits: [
      edit(
        'policy/plan/plain-fire.ts',
        'if (nextAt === null || nextAt > startAt !== isLast) return null',
        'if (nextAt === null) return null',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/property.test.ts',
      names: ['under every sequence of actions, no fire is lost, doubled, early, stuck or out of bounds'],
    },
  },
  {
    name: 'shortcut-beside-an-open-fire',
    rule: 'P7',
    breaks: 'The shortcut for plain fires starts a fire beside one that is open.',
    edits: [edit('policy/plan/plain-fire.ts', 'state.open.length > 0 || ', '')],
    caughtBy: compared('the shortcut leaves a schedule with an open fire to the policy'),
  },
  {
    name: 'shortcut-without-trimming',
    rule: 'rule 3',
    breaks: 'The shortcut for plain settlements never lets retention by count trim the history.',
    edits: [edit('policy/plan/plain-fire.ts', 'if (number % TRIM_EVERY === 0) return null', '')],
    caughtBy: compared(
      'the shortcuts decide what the policy decides, fire after fire, also where retention trims the history',
    ),
  },
  {
    name: 'together-counts-for-overlap',
    rule: 'P7, ruling 43',
    breaks: 'A due time that came together with an active fire, because planning was late, is skipped because of it.',
    edits: [
      edit(
        'policy/plan/on-time.ts',
        'return (other) => isAsked || !isUnasked(other) || countsFrom(other) < readyAt',
        'return () => true',
      ),
    ],
    caughtBy: compared(
      'a due time that came together with an active fire waits, and one that came after it was planned is skipped',
    ),
  },
  {
    name: 'nothing-counts-for-overlap',
    rule: 'P7, rule 12',
    breaks: 'A due time is not skipped although a fire is active that was planned before it was ready.',
    edits: [edit('policy/plan/on-time.ts', '!isUnasked(other) || countsFrom(other) < readyAt', '!isUnasked(other)')],
    caughtBy: { judge: 'simulation', names: ['C7'] },
  },
  {
    name: 'earliest-of-several-forgets-the-rest',
    rule: 'P5',
    breaks: 'The claim of the earliest of several due times passes over the others.',
    edits: [
      edit(
        'policy/plan/plain-fire.ts',
        '    nextAt,\n    plannedTo: dueAt,',
        '    nextAt: isLast ? nextAt : trigger(data!).next(startAt),\n    plannedTo: dueAt,',
      ),
    ],
    caughtBy: compared('claimed one by one, all due times that are on time are plain claims with plain settlements'),
  },
  {
    name: 'superseded-by-what-is-not-open',
    rule: 'P7, ruling 43',
    breaks:
      'A late due time ends as superseded although no newer one is open: in a fleet without room, none ever runs.',
    edits: [
      edit('policy/plan/advance.ts', 'leavesWaiting(draft, existing) ? 1 :', 'leavesWaiting(draft, existing) ? 0 :'),
      edit(
        'policy/plan/plan.ts',
        'const newer = leavesLate ? hasNewer(stretch) :',
        'const newer = stretch !== found ||',
      ),
    ],
    caughtBy: compared('an instance that only plans ends late due times and opens the first one that is on time'),
  },
]

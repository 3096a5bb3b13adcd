import { edit, type Mutant } from '../mutant.ts'

const PARKED = 'packages/cronce/test/engine/parked.test.ts'
const DELIVER = 'packages/cronce/test/client/deliver.test.ts'

/** Work that goes on elsewhere, and fires that others deliver. */
export const OUTSIDE_MUTANTS: readonly Mutant[] = [
  {
    name: 'parked-run-dies-with-its-instance',
    rule: 'a parked run has no lease',
    breaks: 'A parked run stays with the instance that began it, and is run again when that dies.',
    edits: [
      edit(
        'policy/end/settle.ts',
        '{ ...fire.run, instance: NOBODY, parkedUntil: until }',
        '{ ...fire.run, parkedUntil: until }',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: PARKED,
      names: ['a parked run outlives the crash of its instance, a deploy and an empty fleet, and is completed once'],
    },
  },
  {
    name: 'nobody-looks-at-parked-runs',
    rule: 'P5',
    breaks: 'A parked run whose deadline passes is open for ever.',
    edits: [edit('policy/plan/wake.ts', '    if (run?.parkedUntil !== undefined) add(run.parkedUntil)\n', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/client/parked.test.ts',
      names: ['a parked run without a call-back fails when its time is up, and is run again if the policy lets it'],
    },
  },
  {
    name: 'anybody-completes-a-run',
    rule: 'P2',
    breaks: 'A call-back ends a run that an instance is still at.',
    edits: [
      edit('client/complete-run.ts', '    if (run !== undefined && run !== null && !isParked) return null\n', ''),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/client/parked.test.ts',
      names: ['a run that an instance still executes cannot be completed by a call-back'],
    },
  },
  {
    name: 'delivered-inside-a-range',
    rule: 'P1',
    breaks: 'An instant that is on record as part of a range is delivered as if it were not on record.',
    edits: [
      edit(
        'client/deliver.ts',
        '    if (known !== null) return null\n',
        '    if (known !== null && known.range === null) return null\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: DELIVER,
      names: ['an instant inside a range that was missed is on record, and not run by a delivery'],
    },
  },
  {
    name: 'delivered-early',
    rule: 'P4',
    breaks: 'What is delivered before its time is run at once.',
    edits: [
      edit(
        'policy/operate/deliver.ts',
        '{ dueAt, readyAt: dueAt, plannedAt',
        '{ dueAt, readyAt: context.now, plannedAt',
      ),
    ],
    caughtBy: { judge: 'tests', file: DELIVER, names: ['what is delivered a little early waits for its time'] },
  },
  {
    name: 'delivered-beyond-the-limit',
    rule: 'P7',
    breaks: 'A delivery runs one fire more than the limit if the instants of an expired pause have used it up.',
    edits: [edit('policy/operate/deliver.ts', 'refuseEnded(draft.state, dueAt)', 'refuseEnded(state, dueAt)')],
    caughtBy: {
      judge: 'tests',
      file: DELIVER,
      names: ['a delivery does not exceed the limit that the instants of an expired pause have used up'],
    },
  },
  {
    name: 'delivered-too-late',
    rule: 'rule 3',
    breaks: 'An instant whose record may have been pruned is run again by a late delivery.',
    edits: [
      edit(
        'policy/operate/deliver.ts',
        'dueAt >= Math.max(keptSince(state, now), now - sinceMs) ? null',
        'windowMs >= 0 && keptSince(state, now) <= now ? null',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: DELIVER,
      names: ['what is far ahead, too long ago, or no instant of the schedule is refused'],
    },
  },
]

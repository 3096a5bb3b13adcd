import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in whose turn it is: overlap, limits, replacement, tokens. */
export const TURN_MUTANTS: readonly Mutant[] = [
  {
    name: 'no-overlap',
    rule: 'P7, rule 12',
    breaks: 'What waits its turn starts at once.',
    edits: [
      edit(
        'policy/plan/turn.ts',
        'if (visit(fire, fire.ignoresOverlap || others < capacityOf(overlap))) {',
        'if (visit(fire, fire.ignoresOverlap || others <= capacityOf(overlap))) {',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S10', 'C7'] },
  },
  {
    name: 'allow-one-more',
    rule: 'P7, rule 12',
    breaks: 'One more fire than allowed is active.',
    edits: [
      edit(
        'policy/plan/overlap.ts',
        "return policy.kind === 'allow' ? policy.limit : 1",
        "return policy.kind === 'allow' ? policy.limit + 1 : 1",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S10', 'C7'] },
  },
  {
    name: 'back-off-not-active',
    rule: 'rule 12',
    breaks: 'A fire between two attempts is not in the way of the next one.',
    edits: [edit('policy/plan/turn.ts', 'return fire.run !== null || fire.attempt > 0', 'return fire.run !== null')],
    caughtBy: { judge: 'simulation', names: ['C7'] },
  },
  {
    name: 'queue-keeps-the-newest',
    rule: 'rule 12',
    breaks: 'A fire that finds another one waiting takes its place.',
    edits: [
      edit(
        'policy/plan/on-time.ts',
        "  if (verdict === 'skip') return ending('overlap', inTheWay(countedFor(step, fire)))\n",
        "  const waiting = draft.open.find((other) => !isActive(other) && other.kind === 'scheduled')\n  if (verdict === 'skip' && waiting !== undefined) endFire(draft, waiting, ending('overlap'))\n  else if (verdict === 'skip') return ending('overlap')\n",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/overlap.test.ts',
      names: ['queue: one fire waits, the oldest, and starts when the active one has ended'],
    },
  },
  {
    name: 'catch-up-skipped',
    rule: 'rule 12',
    breaks: 'What is caught up with is skipped because of what runs, like what is on time.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        "    return openLate(draft, instant, { cause: 'caught-up', late: true })\n",
        '    return openOnTime(draft, step, fireOf(draft, instant))\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/plan.test.ts',
      names: ['of late instants only the latest runs, if none is on time'],
    },
  },
  {
    name: 'successor-does-not-wait',
    rule: 'rule 9',
    breaks: 'A run that was asked to end does not count any more: the next fire starts beside it.',
    edits: [
      edit(
        'policy/plan/turn.ts',
        '    if (fire.run !== null) running++\n',
        '    if (fire.run !== null) running += fire.run.cancel === null ? 1 : 0\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S10', 'C7'] },
  },
  {
    name: 'no-revoke',
    rule: 'rule 9',
    breaks: 'A run that was asked to end and does not is never revoked.',
    edits: [edit('policy/plan/advance.ts', '  revoke(draft)\n  settleDue', '  settleDue')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/ending.test.ts',
      names: ['a cancelled run of an instance that is silent is revoked by another one after its grace'],
    },
  },
  {
    name: 'token-not-counted',
    rule: 'P2, rule 10',
    breaks: 'The counter of tokens is read and not moved.',
    edits: [edit('policy/plan/start.ts', '  set(draft, { tokens })\n', '')],
    caughtBy: { judge: 'simulation', names: ['S2', 'S5', 'C2'] },
  },
]

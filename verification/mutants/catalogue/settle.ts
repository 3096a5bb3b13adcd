import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in what becomes of a fire when its run has ended or its instance has died, and in what is kept of it. */
export const SETTLE_MUTANTS: readonly Mutant[] = [
  {
    name: 'no-token-check',
    rule: 'P3, classic (b), protocol (no fence on settle)',
    breaks: 'A settlement ends any open run.',
    edits: [edit('policy/fires.ts', '.find((fire) => fire.run.token === token)', '.at(0)')],
    caughtBy: { judge: 'simulation', names: ['S1', 'S3', 'C2', 'C9', 'C10'] },
  },
  {
    name: 'stamped-by-an-answer-from-before-a-sleep',
    rule: 'rule 44',
    breaks: 'The end of a run is recorded too early after the machine was asleep while an answer was under way.',
    edits: [
      edit(
        'engine/fleet/store-time.ts',
        'if (Number.isFinite(last.mono) && wasAsleep(receivedAt)) {',
        'if (now < 0) {',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/store-time.test.ts',
      names: ['an answer that was under way while the machine was asleep confirms nothing'],
    },
  },
  {
    name: 'gathered-run-in-the-way',
    rule: 'rule 12',
    breaks: 'With settleDelay, overlap skips, queues or replaces because of a run that is over.',
    edits: [edit('engine/run/settle-run.ts', ' || isDueSoon(core, run)', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/settle-delay.test.ts',
      names: ['overlap skip finds no run in its way that is over and only gathered'],
    },
  },
  {
    name: 'token-compared-the-wrong-way',
    rule: 'rule 10',
    breaks: 'A run with an older token than the current one may settle.',
    edits: [
      edit(
        'policy/fires.ts',
        '.find((fire) => fire.run.token === token)',
        '.find((fire) => BigInt(fire.run.token) >= BigInt(token))',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S1', 'S3', 'C2', 'C9', 'C10'] },
  },
  {
    name: 'at-most-once-retried',
    rule: 'P6, rule 26',
    breaks: 'A job that must not start twice is retried after a failure.',
    edits: [
      edit(
        'policy/end/settle.ts',
        "const isRetried = retryable && policy.guarantee !== 'at-most-once' && failures",
        'const isRetried = retryable && failures',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/settle.test.ts',
      names: ['at-most-once: never started twice, neither after a crash nor a failure nor a stop'],
    },
  },
  {
    name: 'at-most-once-recovered',
    rule: 'P6, rule 26',
    breaks: 'A job that must not start twice is run again after a crash.',
    edits: [edit('policy/end/recover.ts', "  if (policy.guarantee === 'at-most-once') return crashed\n", '')],
    caughtBy: { judge: 'simulation', names: ['S11', 'C2'] },
  },
  {
    name: 'at-most-once-handed-back',
    rule: 'P6, rule 26',
    breaks: 'A run that has begun is handed back like one that has not.',
    edits: [
      edit(
        'policy/end/settle.ts',
        "const mustNotRepeat = how === 'started' && policyOfFire",
        "const mustNotRepeat = how !== 'started' && policyOfFire",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S11', 'C2'] },
  },
  {
    name: 'crash-budget-forgotten',
    rule: 'rule 27',
    breaks: 'Crashes are not counted: a job that takes its instances down does so for ever.',
    edits: [
      edit(
        'policy/end/recover.ts',
        '  else waitAgain(draft, fire, { crashes, readyAt: context.now }, crashed)\n',
        '  else waitAgain(draft, fire, { readyAt: context.now }, crashed)\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/crash.test.ts',
      names: ['a job that takes its instances down is given up after three runs'],
    },
  },
  {
    name: 'hand-back-costs',
    rule: 'rule 27',
    breaks: 'A run that is handed back counts as a crash.',
    edits: [
      edit(
        'policy/end/settle.ts',
        '  else waitAgain(draft, fire, { readyAt: draft.context.now + retryAfterMs }, end)\n',
        '  else waitAgain(draft, fire, { readyAt: draft.context.now + retryAfterMs, crashes: fire.crashes + 1 }, end)\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S11', 'C10'] },
  },
  {
    name: 'one-retry-more',
    rule: 'rule 23',
    breaks: 'A fire is retried once more than its policy allows.',
    edits: [edit('policy/end/settle.ts', 'failures <= policy.retry.attempts', 'failures <= policy.retry.attempts + 1')],
    caughtBy: { judge: 'simulation', names: ['C11', 'S11'] },
  },
  {
    name: 'retry-at-once',
    rule: 'P4, rule 23',
    breaks: 'A retry by a clock that went back may begin before the instant of its fire.',
    edits: [
      edit(
        'policy/end/settle.ts',
        '  const readyAt = Math.max(patch.readyAt, fire.dueAt)\n',
        '  const { readyAt } = patch\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C5', 'S7'] },
  },
  {
    name: 'suspect-in-company',
    rule: 'rule 27',
    breaks: 'A fire whose instances keep dying starts beside others.',
    edits: [edit('policy/plan/start.ts', 'const isLoner = isSuspect(fire)', 'const isLoner = false')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/settle.test.ts',
      names: ['from its second crash on a fire runs alone: on an idle instance, with nothing beside it'],
    },
  },
  {
    name: 'retention-not-clamped',
    rule: 'rule 3, classic (g)',
    breaks: 'Records are kept as briefly as configured, and not at least for the window and a day.',
    edits: [
      edit(
        'policy/end/retention.ts',
        'return Math.max(retention.keepMsBy[outcome] ?? retention.keepMs, keepAtLeastMs(policy))',
        'return retention.keepMsBy[outcome] ?? Math.min(retention.keepMs, keepAtLeastMs(policy))',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/settle.test.ts',
      names: ['records are kept per outcome, and never shorter than the misfire window and a day'],
    },
  },
  {
    name: 'round-not-counted',
    rule: 'rule 5',
    breaks: 'Another round of a fire has the number of the one before it.',
    edits: [edit('policy/end/rounds.ts', '    round: record.round + 1,\n', '    round: record.round,\n')],
    caughtBy: { judge: 'simulation', names: ['S5', 'C14', 'C2'] },
  },
  {
    name: 'range-split-loses-the-rest',
    rule: 'rule 5',
    breaks: 'When one instant is taken out of a range, what came after it goes off the record.',
    edits: [edit('policy/end/rounds.ts', '    append(draft, lineOf(after))\n', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/backfill.test.ts',
      names: ['one instant is taken out of a range of missed ones, and no other'],
    },
  },
  {
    name: 'attempts-begin-anew',
    rule: 'rule 5',
    breaks: 'Another round counts its attempts from one.',
    edits: [edit('policy/end/rounds.ts', '    attempt: record.attempt,\n', '    attempt: 0,\n')],
    caughtBy: { judge: 'simulation', names: ['C2', 'C9'] },
  },
]

import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in what people do to a schedule. */
export const COMMAND_MUTANTS: readonly Mutant[] = [
  {
    name: 'steers-locks',
    rule: 'rule 24',
    breaks: 'An operator triggers, pauses or retries a lock, which then waits for an instance that will never run it.',
    edits: [
      edit(
        'client/read-name.ts',
        '  if (!name.startsWith(RESERVED_PREFIX)) return name\n  const message',
        "  if (name !== '') return name\n  const message",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/client/reserved-names.test.ts',
      names: ['what is kept under such a name can be cancelled, and removed by force, but not steered'],
    },
  },
  {
    name: 'change-forgets-the-old-rule',
    rule: 'rule 25',
    breaks: 'A new rule counts from now on, and what was due under the old one is dropped.',
    edits: [
      edit(
        'policy/operate/define.ts',
        '  if (!settleOldRule(draft, isMoved)) return',
        '  if (!isMoved && !settleOldRule(draft, isMoved)) return',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S13', 'C1', 'C10'] },
  },
  {
    name: 'waiting-gets-new-policies',
    rule: 'rule 25',
    breaks: 'What is open when a schedule changes goes on under the new policies.',
    edits: [edit('policy/operate/define.ts', '  keepOwn(draft, state.definition, wanted.definition)\n', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/define.test.ts',
      names: ['open fires keep the input and the policies they were planned with'],
    },
  },
  {
    name: 'pause-swallows-what-was-due',
    rule: 'rule 24',
    breaks: 'A pause begins without planning what was due before it.',
    edits: [edit('policy/operate/pause.ts', '  planUpToNow(draft)\n  pauseFires', '  pauseFires')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/pause.test.ts',
      names: ['a pause does not swallow what was due before it'],
    },
  },
  {
    name: 'resume-loses-the-stretch',
    rule: 'rule 24',
    breaks: 'What fell into a pause is passed over without a record.',
    edits: [
      edit(
        'policy/plan/plan.ts',
        "  write(draft, stretch, (instant, index) => {\n    return index < firstKept ? ending('paused') : openLate",
        '  write(draft, { ...stretch, instants: stretch.instants.slice(firstKept) }, (instant) => {\n    return openLate',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S13', 'C10'] },
  },
  {
    name: 'skips-whatever-is-next',
    rule: 'rule 24',
    breaks: 'Skipping the next fire skips the one that is next by now, not the one that the operator saw.',
    edits: [
      edit('policy/operate/skip-next.ts', '  if (state.nextAt !== dueAt) {\n', '  if (state.nextAt === null) {\n'),
      edit(
        'policy/operate/skip-next.ts',
        '  dueAt: Instant,\n  context: Context,\n  wanted: CancelWish = { author: null, note: null },\n): Decision | Refusal {\n',
        '  seen: Instant,\n  context: Context,\n  wanted: CancelWish = { author: null, note: null },\n): Decision | Refusal {\n  const dueAt = state.nextAt ?? seen\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C10'] },
  },
  {
    name: 'cancels-whatever-runs',
    rule: 'rule 24',
    breaks: 'Cancelling a run ends the one that runs by now, not the one that the operator saw.',
    edits: [
      edit(
        'policy/operate/cancel.ts',
        '  const fire = findRunning(draft, token)\n',
        '  const fire = findRunning(draft, token) ?? draft.open.find(isRunning)\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/settle.test.ts',
      names: ['a cancel applies to the run that the operator saw: if that has ended, the next one is left alone'],
    },
  },
  {
    name: 'backfill-repeats-what-ran',
    rule: 'rule 1',
    breaks: 'A backfill runs failed and succeeded instants once more.',
    edits: [
      edit(
        'policy/plan/backfill.ts',
        "  return record.ending?.outcome === 'missed' || record.ending?.outcome === 'skipped'\n",
        '  return record.ending !== null\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S11', 'S5', 'C2', 'C11'] },
  },
  {
    name: 'backfill-beyond-the-record',
    rule: 'rule 3',
    breaks: 'A backfill may reach back to where nothing is on record any more.',
    edits: [
      edit('policy/plan/backfill.ts', '  if (from < since) {\n', '  if (from > now) {\n'),
      edit(
        'policy/plan/backfill.ts',
        'if (!isWanted(record) || (record === undefined && at < since)) continue',
        'if (!isWanted(record)) continue',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/backfill.test.ts',
      names: ['an instant older than the records is refused: whether it ran is unknown'],
    },
  },
  {
    name: 'retry-without-force',
    rule: 'rule 26',
    breaks: 'An operator may run a job again that must not start twice, without saying that it is meant.',
    edits: [
      edit(
        'policy/operate/retry-fire.ts',
        '  if (!mustNotRepeat || record.attempt === 0) return null\n',
        '  if (!mustNotRepeat || record.attempt > 0) return null\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/backfill.test.ts',
      names: ['a fire that succeeded, or has started and must not start twice, runs again by force only'],
    },
  },
  {
    name: 'removal-leaves-runs',
    rule: 'rule 9',
    breaks: 'A schedule is removed, and the run it had stays open on record.',
    edits: [edit('policy/operate/remove.ts', '    if (isRunning(fire)) endRun(draft, fire, removed)\n', '')],
    caughtBy: { judge: 'simulation', names: ['S13', 'S9', 'C9', 'C12'] },
  },
  {
    name: 'lost-update-of-a-command',
    rule: 'P7, protocol (compare-and-set not asked)',
    breaks: 'A command that lost a race is answered as if it had been written.',
    edits: [
      edit(
        'client/change-schedule.ts',
        'parts.store.apply(changes, { tx, wake: true }))',
        "parts.store.apply(changes, { tx, wake: true })).then((answer) => ({ ...answer, results: answer.results.map((one) => (one.kind === 'exists' ? one : { kind: 'applied' as const })) }))",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C13', 'C10', 'C1', 'C4'] },
  },
  {
    name: 'dedupe-by-instant',
    rule: 'P1, rule 1',
    breaks: 'A dedupe key holds for one millisecond: two triggers with one key make two fires.',
    edits: [
      edit('store/memory/apply.ts', "fire.nonce === '' ? undefined : space", "fire.nonce !== '-' ? undefined : space"),
    ],
    caughtBy: { judge: 'simulation', names: ['S8', 'C2', 'C4', 'C10'] },
  },
  {
    name: 'repeated-key-replaces',
    rule: 'P1, rule 1',
    breaks: 'A trigger whose dedupe key names the running fire replaces that fire.',
    edits: [
      edit(
        'client/trigger-schedule.ts',
        '      known = findTriggered(state, command.nonce, context)\n      if (known !== null) return null\n',
        '',
      ),
      edit('client/trigger-schedule.ts', 'import { findTriggered, triggerNow }', 'import { triggerNow }'),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/testing/simultaneous-commands.test.ts',
      names: ['does not replace the fire that it names'],
    },
  },
]

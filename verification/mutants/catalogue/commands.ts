import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in what people and deployments do to a schedule. */
export const COMMAND_MUTANTS: readonly Mutant[] = [
  {
    name: 'change-forgets-the-old-rule',
    rule: 'rule 25',
    breaks: 'A new rule counts from now on, and what was due under the old one is dropped.',
    edits: [
      edit(
        'policy/define.ts',
        '  if (!settleOldRule(draft, isMoved)) {',
        '  if (!isMoved && !settleOldRule(draft, isMoved)) {',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S13', 'C1', 'C10'] },
  },
  {
    name: 'waiting-gets-new-policies',
    rule: 'rule 25',
    breaks: 'What is open when a schedule changes goes on under the new policies.',
    edits: [edit('policy/define.ts', '  keepOwn(draft, state.definition, wanted.definition)\n', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/define.test.ts',
      names: ['what is open keeps the input and the policies it was planned with'],
    },
  },
  {
    name: 'pause-swallows-what-was-due',
    rule: 'rule 24',
    breaks: 'A pause begins without planning what was due before it.',
    edits: [edit('policy/pause.ts', '  planUpToNow(draft)\n  pauseFires', '  pauseFires')],
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
        'policy/plan.ts',
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
      edit('policy/skip-next.ts', '  if (state.nextAt !== dueAt) {\n', '  if (state.nextAt === null) {\n'),
      edit(
        'policy/skip-next.ts',
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
        'policy/cancel.ts',
        '  const fire = findRunning(draft, token)\n',
        '  const fire = findRunning(draft, token) ?? draft.open.find(isRunning)\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/settle.test.ts',
      names: ['a cancel is about the run that the operator saw: when that is over, the next one is left alone'],
    },
  },
  {
    name: 'backfill-repeats-what-ran',
    rule: 'rule 1',
    breaks: 'A backfill runs failed and succeeded instants once more.',
    edits: [
      edit(
        'policy/backfill.ts',
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
      edit('policy/backfill.ts', '  if (from < since) {\n', '  if (from > now) {\n'),
      edit(
        'policy/backfill.ts',
        'if (!isWanted(record) || (record === undefined && at < since)) continue',
        'if (!isWanted(record)) continue',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/backfill.test.ts',
      names: ['what is older than the record is refused: nobody could tell whether it ran'],
    },
  },
  {
    name: 'retry-without-force',
    rule: 'rule 26',
    breaks: 'An operator may run a job again that must not start twice, without saying that it is meant.',
    edits: [
      edit(
        'policy/retry-fire.ts',
        '  if (!mustNotRepeat || record.attempt === 0) return null\n',
        '  if (!mustNotRepeat || record.attempt > 0) return null\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/backfill.test.ts',
      names: ['what succeeded, or must not start twice and has started, is run again by force only'],
    },
  },
  {
    name: 'removal-leaves-runs',
    rule: 'rule 9',
    breaks: 'A schedule is removed, and the run it had stays open on record.',
    edits: [edit('policy/remove.ts', '    if (isRunning(fire)) endRun(draft, fire, removed)\n', '')],
    caughtBy: { judge: 'simulation', names: ['S13', 'S9', 'C9', 'C12'] },
  },
  {
    name: 'old-deployment-flips-back',
    rule: 'P8, rule 30',
    breaks: 'Whoever starts last writes its declarations, also when a newer deployment is active.',
    edits: [
      edit(
        'engine/deploy.ts',
        'if (active === deployment && (term !== declaredTerm || declaredAs !== instance || isUnspared())) {',
        'if (term !== declaredTerm || declaredAs !== instance) {',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy.test.ts',
      names: ['a rolling update changes the schedule once, though old instances still run'],
    },
  },
  {
    name: 'hold-down-ignored',
    rule: 'rule 30',
    breaks: 'A release whose processes are away for a moment makes the old declarations count again.',
    edits: [
      edit(
        'policy/deployment.ts',
        'return now - app.activeGoneAt >= holdDownMs ? activate',
        'return now >= app.activeGoneAt ? activate',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/deployment.test.ts',
      names: ['a release that crashes and comes back within the hold-down changes nothing'],
    },
  },
  {
    name: 'retires-other-apps',
    rule: 'rule 30',
    breaks: 'Jobs of other apps are retired, since this one does not declare them.',
    edits: [
      edit('policy/retire.ts', ' || source.app !== by.app || ', ' || '),
      edit(
        'engine/deploy.ts',
        'const query: ScheduleQuery = { app, after, limit: BATCH }',
        'const query: ScheduleQuery = { after, limit: BATCH }',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy.test.ts',
      names: ['apps that share a namespace do not touch each other'],
    },
  },
  {
    name: 'retired-goes-on',
    rule: 'P8, rule 30',
    breaks: 'What waits when its job leaves the code is started all the same.',
    edits: [
      edit(
        'policy/retire.ts',
        "  for (const fire of draft.open.filter((open) => !isRunning(open))) endFire(draft, fire, ending('retired'))\n  set(draft, { retiredAt: context.now, ",
        '  set(draft, { retiredAt: draft.open.length > 0 ? null : context.now, ',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/deploy.test.ts',
      names: ['a job that left the code stops firing: what waited is cancelled, what runs goes on'],
    },
  },
  {
    name: 'lost-update-of-a-command',
    rule: 'P7, protocol (compare-and-set not asked)',
    breaks: 'A command that lost a race is answered as if it had been written.',
    edits: [
      edit(
        'client/change-schedule.ts',
        "    if (result.kind === 'applied') {\n      announce",
        "    if (result.kind !== 'exists') {\n      announce",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C13', 'C10', 'C1', 'C4'] },
  },
  {
    name: 'dedupe-by-instant',
    rule: 'P1, rule 1',
    breaks: 'A dedupe key holds for one millisecond: two triggers with one key make two fires.',
    edits: [
      edit(
        'store/memory/apply.ts',
        "nonce === '' ? undefined : records.schedules.get(schedule)?.nonces.get(nonce)?.key",
        "nonce !== '-' ? undefined : records.schedules.get(schedule)?.nonces.get(nonce)?.key",
      ),
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

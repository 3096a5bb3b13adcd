import { edit, type Mutant } from '../mutant.ts'

/** Mistakes in the life of a run on its instance: claim, start, steps, transaction, settlement. */
export const RUN_MUTANTS: readonly Mutant[] = [
  {
    name: 'local-clock',
    rule: 'P4, classic (c), protocol (due by client clock)',
    breaks: 'Decisions are made by the clock of the instance, and the store does not object.',
    edits: [
      edit('engine/core.ts', 'return { now, epoch, zoneData', 'return { now: this.parts.clock.wall(), epoch, zoneData'),
      edit('store/memory/apply.ts', 'now < change.notBefore) return EARLY', 'now < 0) return EARLY'),
    ],
    caughtBy: { judge: 'simulation', names: ['C5', 'S7'] },
  },
  {
    name: 'local-clock-misjudges',
    rule: 'P4, classic (c)',
    breaks: 'The store decides what is due, and the clock of the instance how late it is.',
    edits: [
      edit('engine/core.ts', 'return { now, epoch, zoneData', 'return { now: this.parts.clock.wall(), epoch, zoneData'),
    ],
    caughtBy: { judge: 'simulation', names: ['C4', 'C5', 'C6', 'C10'] },
  },
  {
    name: 'wait-outlives-stop',
    rule: 'P9',
    breaks: 'An instance that stops waits for a run that only waits for work elsewhere.',
    edits: [edit('engine/instance.ts', ' || run.waits) run.abort', ') run.abort')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/stop.test.ts',
      names: ['a run that only waits for work elsewhere is handed back as soon as its instance stops'],
    },
  },
  {
    name: 'only-wait-is-given-up',
    rule: 'P9',
    breaks:
      'A stop abandons a fire that may run only once and waits for work elsewhere, instead of giving it the drain.',
    edits: [edit('engine/run/execute.ts', " && run.started.policy.guarantee !== 'at-most-once'", '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/stop.test.ts',
      names: ['a run that only waits for work elsewhere has all of the drain if its fire may run only once'],
    },
  },
  {
    name: 'loser-starts-too',
    rule: 'P2, protocol (non-atomic claim)',
    breaks: 'An instance whose claim met a newer version still starts the run.',
    edits: [
      edit(
        'engine/claim/claims.ts',
        "if (result.kind === 'applied') for",
        "if (result.kind === 'applied' || result.kind === 'conflict') for",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C2'] },
  },
  {
    name: 'claim-without-number',
    rule: 'rule 6',
    breaks: 'After a lost answer a token is taken for one’s own, though another instance may have got it.',
    edits: [
      edit(
        'engine/claim/send-claim.ts',
        '        .filter(({ run }) => run?.instance === instance && run.claim === claim)\n',
        '        .filter(({ run }) => run !== null)\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S1', 'S5', 'C2', 'C9'] },
  },
  {
    name: 'lost-claim-is-believed',
    rule: 'rule 7',
    breaks: 'A claim whose answer was lost is taken for applied without looking.',
    edits: [
      edit(
        'engine/claim/send-claim.ts',
        'const isApplied = started.length > 0 && started',
        'const isApplied = started.length > 0 || started',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S1', 'S5', 'S13', 'C2', 'C9'] },
  },
  {
    name: 'no-reconcile',
    rule: 'rule 6',
    breaks: 'What an instance holds without knowing is held for ever.',
    edits: [
      edit(
        'engine/fleet/reconcile.ts',
        "      this.#settler.add(schedule, handBack(token, 'not-started'), true, () => {})\n",
        "      handBack(token, 'not-started')\n",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/lost-answers.test.ts',
      names: ['a claim that lands after it was given up is found by the heartbeats and handed back'],
    },
  },
  {
    name: 'reconcile-at-once',
    rule: 'rule 6',
    breaks: 'A heartbeat hands back what was claimed while it was under way.',
    edits: [
      edit('engine/fleet/reconcile.ts', '      else if (!core.claiming.has(run.claim)) unknown', '      else unknown'),
      edit('engine/fleet/reconcile.ts', ' || !this.#doubtful.has(', ' || !unknown.has('),
    ],
    caughtBy: { judge: 'simulation', names: ['C2'] },
  },
  {
    name: 'note-refused-by-token',
    rule: 'P2',
    breaks: 'A refused note aborts every run of the batch with the same token, of whichever schedule.',
    edits: [edit('engine/run/notes.ts', 'started.record.schedule === schedule && ', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run.test.ts',
      names: ['a run that is overtaken does not take a run of another schedule with the same token along'],
    },
  },
  {
    name: 'started-without-trust',
    rule: 'rule 8',
    breaks: 'A handler is called without asking whether the lease still holds.',
    edits: [
      edit(
        'engine/run/execute.ts',
        'core.stopping || fleet.instance !== run.instance || run.aborted !== null || !lease.trusted()',
        'core.stopping',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: ['a claim whose answer comes after the lease has run out is not started'],
    },
  },
  {
    name: 'step-without-trust',
    rule: 'rule 8',
    breaks: 'A step is begun without asking whether the lease still holds.',
    edits: [
      edit(
        'engine/fleet/trust.ts',
        'if (core.fleet.instance === run.instance && isHeld) return',
        "if (wanted === 'once' || isHeld) return",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: ['a lease that ran out unnoticed (stopped) starts no step, although no peer has taken over'],
    },
  },
  {
    name: 'commit-without-trust',
    rule: 'rule 8',
    breaks: 'A transaction is committed without asking whether the lease still holds.',
    edits: [
      edit(
        'engine/run/transact.ts',
        'const isWanted = !doing.over && core.lease.trusted()',
        'const isWanted = !doing.over',
      ),
      edit(
        'engine/fleet/trust.ts',
        'if (core.fleet.instance === run.instance && isHeld) return',
        "if (wanted === 'transaction' || isHeld) return",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/pause.test.ts',
      names: ['a lease that ran out unnoticed (stopped) commits no transaction, although no peer has taken over'],
    },
  },
  {
    name: 'doubt-keeps-from-settling',
    rule: 'rule 8',
    breaks: 'A run that has ended is not settled while the lease is in doubt.',
    edits: [
      edit('engine/run/settle-run.ts', '  if (run.committed) {\n', '  if (run.committed || !core.lease.trusted()) {\n'),
    ],
    caughtBy: { judge: 'simulation', names: ['C2', 'C9'] },
  },
  {
    name: 'settled-without-an-answer',
    rule: 'rule 7',
    breaks: 'A settlement whose answer was lost is taken for made.',
    edits: [
      edit(
        'engine/run/settle.ts',
        "        this.#queue = next === 'last' ? [...this.#queue, ...left] : [...left, ...this.#queue]\n",
        "        for (const item of left) conclude(item, 'settled')\n",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C2', 'C9'] },
  },
  {
    name: 'never-given-up',
    rule: 'rule 9',
    breaks: 'A handler that ignores its signal keeps its place for ever.',
    edits: [
      edit(
        'engine/run/local-run.ts',
        '    void this.outlasts(this.started.policy.timeout.graceMs).then(() => this.giveUp())\n',
        '    void this.outlasts(this.started.policy.timeout.graceMs)\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/ending.test.ts',
      names: ['a run that ignores its timeout is given up after the grace, and its fire goes on without it'],
    },
  },
  {
    name: 'timeout-forgotten',
    rule: 'rule 9',
    breaks: 'The timeout of a run is not watched.',
    edits: [
      edit(
        'engine/run/execute.ts',
        "    if (isLate) run.abort('timeout', null)\n",
        '    if (isLate) run.ended = false\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C1', 'C11', 'C12'] },
  },
  {
    name: 'stopping-drops-runs',
    rule: 'P9',
    breaks: 'An instance that stops leaves what it runs behind instead of handing it back.',
    edits: [
      edit(
        'engine/run/settlement.ts',
        "    case 'stopping':\n    case 'lease-lost':",
        "    case 'stopping':\n      return { token, ending: ending('completed'), error: null, result: null, retryable: false, handBack: null }\n    case 'lease-lost':",
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C9', 'C1'] },
  },
  {
    name: 'stopping-still-claims',
    rule: 'P9',
    breaks: 'An instance that stops goes on claiming, and leaves without handing back.',
    edits: [
      edit(
        'engine/claim/looks.ts',
        'return !core.stopping && !core.fleet.drained && core.lease.trusted()',
        'return !core.fleet.drained && core.lease.trusted()',
      ),
      edit('engine/claim/looks.ts', '    if (core.stopping) return this.#nothing(asked, () => LONG_MS)\n', ''),
      edit('engine/run/execute.ts', 'if (core.stopping || ', 'if ('),
    ],
    caughtBy: { judge: 'simulation', names: ['L3', 'C9', 'C10'] },
  },
  {
    name: 'late-failure-unreported',
    rule: 'P7',
    breaks: 'What a handler throws after its transaction is in no record, no event and no log.',
    edits: [
      edit('engine/run/settle-run.ts', "if (ended.kind === 'threw') reportLateFailure(core, run, ended.error)", ''),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run.test.ts',
      names: ['an error after the transaction is reported, and the fire has succeeded'],
    },
  },
  {
    name: 'untransacted-every-time',
    rule: 'P7',
    breaks: 'Every exactly-once run without a transaction is reported, not the first of its job.',
    edits: [edit('engine/run/settle-run.ts', 'untransacted.add(record.job)', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run.test.ts',
      names: ['an exactly-once run that ends without a transaction is reported once for its job'],
    },
  },
  {
    name: 'unfit-input-declared',
    rule: 'P7',
    breaks: 'A job is declared with an input that its schema refuses, and every fire fails.',
    edits: [edit('app/job.ts', 'demandFittingInput(job)?.catch(() => {})', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/app/declared-input.test.ts',
      names: ['a job with a trigger and an input that its schema refuses is refused when it is declared'],
    },
  },
]

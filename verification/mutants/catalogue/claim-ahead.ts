import { edit, type Mutant } from '../mutant.ts'

const TESTS = 'packages/cronce/test/engine/claim-ahead.test.ts'
const CLOCK_BACK = 'packages/cronce/test/engine/clock-back.test.ts'
const DECLARED_DEAD = 'packages/cronce/test/engine/declared-dead.test.ts'

/** Mistakes in claiming fires before they are due: docs/decisions/004-time.md, "Claim ahead". */
export const CLAIM_AHEAD_MUTANTS: readonly Mutant[] = [
  {
    name: 'ahead-starts-at-claim',
    rule: 'P4, lean rule 16',
    breaks: 'A run that was claimed ahead starts at once.',
    edits: [
      edit(
        'engine/claim/planned-starts.ts',
        'now !== null && now >= at && lease.isFresh()',
        'now !== null && lease.isFresh()',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C5'] },
  },
  {
    name: 'ahead-by-the-estimate',
    rule: 'P4, lean rule 16',
    breaks: 'A run starts by the estimate of the store’s clock instead of its lower bound.',
    edits: [
      edit(
        'engine/claim/planned-starts.ts',
        'const now = time.atLeast()\n',
        'const now = time.atLeast() === null ? null : time.estimate() + 1\n',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['C5'] },
  },
  {
    name: 'ahead-floor-never-falls',
    rule: 'P4, lean rule 17',
    breaks: 'An answer that shows that the store’s clock was set back does not lower the bound.',
    edits: [
      edit(
        'engine/fleet/store-time.ts',
        'if (known !== null && now < Math.floor(known)) this.forget()',
        'if (known !== null && now < 0) this.forget()',
      ),
      edit('engine/fleet/store-time.ts', 'const FLOOR_MS = 1_000', 'const FLOOR_MS = 3_600_000'),
    ],
    caughtBy: { judge: 'simulation', names: ['C5'] },
  },
  {
    name: 'ahead-without-renewal',
    rule: 'P2, lean rule 12',
    breaks: 'A run that was claimed ahead starts although peers may have declared its instance dead.',
    edits: [
      edit(
        'engine/claim/planned-starts.ts',
        'now !== null && now >= at && lease.isFresh()',
        'now !== null && now >= at',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['an instance that peers declare dead before the start, although it lives, starts nothing'],
    },
  },
  {
    name: 'start-without-fresh-answer',
    rule: 'P2, lean rule 12',
    breaks: 'A run starts right after its claim was answered, however long ago the claim was sent.',
    edits: [edit('engine/run/execute.ts', 'if (!lease.isFresh()) return plannedStarts.renew()\n', '')],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: ['an instance that peers have declared dead since its claim starts nothing'],
    },
  },
  {
    name: 'fresh-by-the-answer',
    rule: 'P2, lean rule 12',
    breaks: 'How fresh a claim is counts from its answer, not from its request.',
    edits: [edit('engine/fleet/lease.ts', 'this.#slow < SLOW_ANSWERS ? this.#sentAt : ', '')],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: ['an instance that peers have declared dead since its claim starts nothing'],
    },
  },
  {
    name: 'slow-store-never-fresh',
    rule: 'P5, lean rule 12',
    breaks: 'On a store that is slower than the grace, nothing starts, however many heartbeats it answers.',
    edits: [
      edit('engine/fleet/lease.ts', 'this.#slow < SLOW_ANSWERS ? this.#sentAt : this.#arrivedAt', 'this.#sentAt'),
    ],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: ['on a store that is slower than the grace, fires start without more heartbeats'],
    },
  },
  {
    name: 'stall-is-a-slow-store',
    rule: 'P2, lean rule 12',
    breaks:
      'On a slow store, a process that has stood still for seconds takes the answer that waited for it for a fresh one.',
    edits: [edit('engine/fleet/lease.ts', 'this.#slow > 0 && tookMs <= 2 * this.#slowestMs', 'true')],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: ['one long answer is a stall of the process, three alike are a slow store'],
    },
  },
  {
    name: 'overlapping-stall-is-a-slow-store',
    rule: 'P2, lean rule 12',
    breaks: 'The same, if the request of that answer left before the last slow answer arrived.',
    edits: [
      edit(
        'engine/fleet/lease.ts',
        'if (isAlike && sentAt < this.#slowAt) return',
        'if (sentAt < this.#slowAt) return',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: [
        'on a slow store, a long answer is a stall of the process, also if its request left before the last slow answer arrived',
      ],
    },
  },
  {
    name: 'one-stall-is-a-slow-store',
    rule: 'P2, lean rule 12',
    breaks: 'Three answers that one stall of the process held up are taken for three answers of a slow store.',
    edits: [edit('engine/fleet/lease.ts', '    if (isAlike && sentAt < this.#slowAt) return\n', '')],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: ['slow answers to requests that were sent together count once'],
    },
  },
  {
    name: 'start-before-a-clock-that-was-set-back',
    rule: 'P4, lean rule 17',
    breaks:
      "A run that was claimed when it was due starts although its process knows that the store's clock was set back since.",
    edits: [
      edit(
        'engine/run/execute.ts',
        "return mayBeEarly(core, run) ? plannedStarts.reached(run.started.record.readyAt) : 'now'",
        "return 'now'",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: CLOCK_BACK,
      names: [
        "a run that was claimed when it was due starts at its due time once more, if the store's clock was set back since",
      ],
    },
  },
  {
    name: 'start-by-a-clock-that-is-unknown',
    rule: 'P4, lean rule 16',
    breaks: "A run starts although its process does not know the store's clock, because a call has failed since.",
    edits: [edit('engine/run/execute.ts', '(known === null || known + 1 <', '(known !== null && known + 1 <')],
    caughtBy: {
      judge: 'tests',
      file: CLOCK_BACK,
      names: [
        "a run whose claim was found by reading starts at its due time once more, if the store's clock was set back during the claim",
      ],
    },
  },
  {
    name: 'lock-waits-for-the-clock',
    rule: 'P10',
    breaks: "A lock is not held before the store's clock, which was set back, shows again when it was claimed.",
    edits: [edit('engine/run/execute.ts', 'return exclusive === null && (', 'return (')],
    caughtBy: {
      judge: 'tests',
      file: CLOCK_BACK,
      names: ["a lock does not wait for the store's clock to come back to where it was"],
    },
  },
  {
    name: 'overtaken-answer-counts',
    rule: 'P4, lean rule 17',
    breaks:
      "An answer from before the store's clock was set back counts, although a later question was answered since.",
    edits: [
      edit(
        'engine/fleet/store-time.ts',
        'else if (now - receivedAt > highest + (receivedAt - this.#latest.sentAt) * DRIFT + 1) return\n',
        '',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/store-time.test.ts',
      names: [
        'an answer from before the clock was set back does not raise what the clock has reached, however late it arrives',
      ],
    },
  },
  {
    name: 'claim-is-no-fresh-answer',
    rule: 'cost',
    breaks: 'Only heartbeats count as answers, so every fire costs one.',
    edits: [
      edit(
        'engine/claim/send-claim.ts',
        "if (applied.results.some(({ kind }) => kind === 'applied')) core.lease.answered(sent)",
        '',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: DECLARED_DEAD,
      names: ['a fire that starts right after its claim costs no heartbeat'],
    },
  },
  {
    name: 'ahead-at-most-once',
    rule: 'P6, lean rule 11',
    breaks: 'Jobs that must not start twice are claimed ahead.',
    edits: [
      edit(
        'policy/plan/plain-fire.ts',
        "if (guarantee === 'at-most-once' || retry?.crashes === 0) return null",
        'if (retry?.crashes === 0) return null',
      ),
    ],
    caughtBy: { judge: 'simulation', names: ['S7'] },
  },
  {
    name: 'ahead-beside-an-open-fire',
    rule: 'P7, lean rule 18',
    breaks: 'A schedule with an open fire is claimed ahead.',
    edits: [
      edit('policy/plan/plain-fire.ts', 'if (state.open.length > 0 || !isQuiet(state) ||', 'if (!isQuiet(state) ||'),
    ],
    caughtBy: { judge: 'simulation', names: ['S7', 'S10', 'S13', 'C7', 'C9', 'C1'] },
  },
  {
    name: 'ahead-start-beyond-the-grace',
    rule: 'P7, ruling 43',
    breaks: 'A run that was claimed ahead starts however late it is.',
    edits: [edit('engine/run/execute.ts', "if (!isOnTime(policy.misfire, startedAt - readyAt)) return 'never'", '')],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['a blocked event loop starts the run late, and beyond the grace leaves it to the misfire policy'],
    },
  },
  {
    name: 'ahead-start-of-the-claim',
    rule: 'P5',
    breaks: 'The record has the planned start of a run that was claimed ahead, not the real one.',
    edits: [
      edit(
        'engine/run/settlement.ts',
        'return started.isAhead === undefined || calledAt === undefined ? settlement :',
        'return true ? settlement :',
      ),
    ],
    caughtBy: { judge: 'tests', file: TESTS, names: ['a run that starts late has its real start on record'] },
  },
  {
    name: 'ahead-of-the-grace',
    rule: 'lean rule 15',
    breaks: 'A death more than 300 ms before the due time costs a crash.',
    edits: [
      edit(
        'app/options.ts',
        "duration('claimAhead', GRACE_MS, { min: 0, max: GRACE_MS })",
        "duration('claimAhead', 400, { min: 0, max: 5_000 })",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['a crash earlier than 300 ms before the due time costs neither an attempt nor a crash'],
    },
  },
  {
    name: 'ahead-put-back-keeps-its-attempt',
    rule: 'lean rule 15',
    breaks: 'A run that never started keeps its attempt.',
    edits: [edit('policy/end/claimed-ahead.ts', 'attempt: 0, run: null', 'run: null')],
    caughtBy: { judge: 'simulation', names: ['S11', 'C9', 'C10'] },
  },
  {
    name: 'ahead-starts-when-cancelled',
    rule: 'lean rules 14 and 29',
    breaks: 'A run that was cancelled before its start starts.',
    edits: [edit('engine/run/execute.ts', ' || run.aborted !== null', '')],
    caughtBy: { judge: 'tests', file: TESTS, names: ['a run that is cancelled before its start never starts'] },
  },
  {
    name: 'ahead-holds-when-stopping',
    rule: 'P9',
    breaks: 'An instance that stops keeps what it has not started until it is due.',
    edits: [edit('engine/instance.ts', '    core.plannedStarts.release()\n', '', 2)],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['an instance that stops hands back at once what it has not started'],
    },
  },
  {
    name: 'ahead-planned-again',
    rule: 'P5',
    breaks: 'A fire that was claimed ahead and runs again after a crash is recorded as planned at its due time.',
    edits: [edit('policy/plan/start.ts', 'fire.attempt > 0 ? fire.plannedAt : ', '')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/claimed-ahead.test.ts',
      names: ['a fire that was claimed ahead keeps the time at which it was planned when it runs again'],
    },
  },
  {
    name: 'ahead-delivered-counts-as-ahead',
    rule: 'P6, lean rule 15',
    breaks:
      'A fire that was delivered before its due time is taken for one that was claimed ahead: its run leaves no record.',
    edits: [edit('policy/plan/start.ts', 'Math.max(fire.plannedAt, fire.dueAt)', 'fire.plannedAt')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/policy/claimed-ahead.test.ts',
      names: ['a fire that was delivered before its due time was not claimed ahead'],
    },
  },
  {
    name: 'ahead-replaced-by-an-older-fire',
    rule: 'P7',
    breaks: 'Schedules that replace are claimed ahead.',
    edits: [edit('policy/plan/plain-fire.ts', "if (overlap?.kind === 'replace') return null", '')],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['a trigger right before the due time does not replace the scheduled fire'],
    },
  },
  {
    name: 'lost-put-back-is-a-rival',
    rule: 'lean rule 26',
    breaks: 'A store that lost a put-back keeps the run that followed from being restored.',
    edits: [edit('policy/end/restore.ts', ' && !isUnstarted(draft, known, run)', '')],
    caughtBy: { judge: 'tests', file: TESTS, names: ['a store that loses a put-back learns of the run that followed'] },
  },
  {
    name: 'ahead-looks-again-and-again',
    rule: 'cost',
    breaks: 'Looks repeat while what they find can not be claimed ahead.',
    edits: [edit('engine/claim/looks.ts', '      if (counts.found === 0) return laterMs\n', '')],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['schedules that cannot be claimed ahead are looked at when they are due'],
    },
  },
]

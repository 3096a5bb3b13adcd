import { edit, type Mutant } from '../mutant.ts'

const EXCLUSIVE = 'packages/cronce/test/engine/exclusive.test.ts'
const FAULTS = 'packages/cronce/test/engine/exclusive-faults.test.ts'
const ENDS = 'packages/cronce/test/engine/exclusive-ends.test.ts'
const ROLLBACK = 'packages/cronce/test/engine/exclusive-rollback.test.ts'

/** Mistakes in locks, elections and keys. */
export const EXCLUSIVE_MUTANTS: readonly Mutant[] = [
  {
    name: 'leader-that-fails-at-once',
    rule: 'cost',
    breaks: 'A leader whose onElected throws at once is elected again and again.',
    edits: [
      edit('app/elect.ts', '    this.#hasFailed = false\n', ''),
      edit(
        'app/elect.ts',
        '          const ended = await begun.ended',
        '          this.#hasFailed = false\n          const ended = await begun.ended',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['a candidate that cannot lead is elected less and less often, and does not keep the fleet busy'],
    },
  },
  {
    name: 'held-by-two',
    rule: 'P2',
    breaks: 'A lock or a term is granted although another instance holds it.',
    edits: [edit('policy/plan/take-fire.ts', '(!wanted.beside || isWanted(fire, wanted))', 'isWanted(fire, wanted)')],
    caughtBy: {
      judge: 'tests',
      file: EXCLUSIVE,
      names: [
        'one caller at a time has a lock, in the order of the tokens',
        'there is one leader at a time; when it crashes, stops or resigns, another follows with a higher term',
      ],
    },
  },
  {
    name: 'held-by-nobody',
    rule: 'rule 7',
    breaks: 'A claim that never started blocks the lock forever.',
    edits: [edit('policy/plan/take-fire.ts', 'fire.run !== null && (!wanted.beside ||', '(!wanted.beside ||')],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['a lock whose claim was never acknowledged goes to the next caller'],
    },
  },
  {
    name: 'key-of-a-neighbour',
    rule: 'P1',
    breaks: 'A caller of a key begins the oldest abandoned key of the same schedule.',
    edits: [
      edit(
        'policy/plan/take-fire.ts',
        'fire.run === null && isWanted(fire, wanted)',
        'fire.run === null && wanted.nonce !== null',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['a key whose claim was never acknowledged is done by the next caller, and is not another key'],
    },
  },
  {
    name: 'lost-lock-returns',
    rule: 'P3',
    breaks: 'A section that was overtaken returns as if nothing had happened.',
    edits: [
      edit('app/lock.ts', "finished.kind !== 'over' && finished.settled === 'settled'", "finished.kind !== 'over'"),
    ],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['a section that was overtaken gets an error, even if it ended well'],
    },
  },
  {
    name: 'same-token-for-all',
    rule: 'P3, classic (b)',
    breaks: 'The token of a lock does not grow, so a resource cannot reject an older one.',
    edits: [edit('app/lock.ts', 'token: BigInt(handle.started.record.token)', 'token: 1n')],
    caughtBy: {
      judge: 'tests',
      file: EXCLUSIVE,
      names: [
        'one caller at a time has a lock, in the order of the tokens',
        'the next caller gets a lock whose holder crashed, with a higher token',
      ],
    },
  },
  {
    name: 'leader-by-a-flag',
    rule: 'rule 8',
    breaks: 'Leadership is the last reported state, not what the lease allows to trust now.',
    edits: [
      edit(
        'app/elect.ts',
        '    return isHearing && this.#parts.engine().trusted() ? term : null\n',
        '    return term\n',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: EXCLUSIVE,
      names: ['a paused leader does not think that it leads when it wakes up'],
    },
  },
  {
    name: 'leader-in-doubt',
    rule: 'rule 15',
    breaks: 'A leader that peers may have declared dead reports that it leads.',
    edits: [edit('engine/instance.ts', 'lease.trusted() && !lease.doubted() &&', 'lease.trusted() &&')],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: [
        'a leader that peers may have declared dead does not report that it leads, until the store has confirmed its lease',
      ],
    },
  },
  {
    name: 'leader-who-has-not-heard',
    rule: 'rule 15',
    breaks: 'After a blocked event loop a leader reports that it leads before it learns that its connection is lost.',
    edits: [edit('app/elect.ts', 'isHearing && this.#parts', 'this.#parts')],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: [
        'after its event loop was blocked for longer than the grace, a leader does not claim to lead before it has caught up',
      ],
    },
  },
  {
    name: 'term-outlives-stop',
    rule: 'P9',
    breaks: 'A leader that stops leads until all its runs have ended.',
    edits: [
      edit('engine/instance.ts', "if (run.exclusive === 'term' || run.waits) run.abort", 'if (run.waits) run.abort'),
    ],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['when a leader stops, the next one is elected at once, not after a lease, nor after a while'],
    },
  },
  {
    name: 'nobody-hears-of-a-resignation',
    rule: 'P9',
    breaks: 'The next candidate learns of a free term only when it happens to look.',
    edits: [edit('engine/run/settle-run.ts', "kind === 'term' || ", '')],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['when a leader resigns, the next one is elected at once, not after a lease, nor after a while'],
    },
  },
  {
    name: 'key-without-memory',
    rule: 'P1',
    breaks: 'Every call of a key is another one.',
    edits: [edit('app/once.ts', 'nonce: key, ', 'nonce: this.#parts.newId(), ', 2)],
    caughtBy: {
      judge: 'tests',
      file: EXCLUSIVE,
      names: ['the first caller of a key does the work, all others get its result'],
    },
  },
  {
    name: 'unknown-key-is-done-again',
    rule: 'rule 11',
    breaks: 'Work that was begun and whose outcome is unknown is done again.',
    edits: [
      edit(
        'app/once.ts',
        'handle.once(STEP, marked, { rerun })',
        'handle.once(STEP, marked, { rerun: rerun || true })',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: EXCLUSIVE,
      names: [
        'failed work is repeated by the next caller; work with an unknown outcome is not, unless rerun allows it',
      ],
    },
  },
  {
    name: 'everybody-asks',
    rule: 'overload must not feed itself',
    breaks: 'Every waiting caller of a process asks the store separately.',
    edits: [edit('app/lock.ts', '      await untilTurn(parts, engine, turn, until, signal)\n', '')],
    caughtBy: {
      judge: 'tests',
      file: FAULTS,
      names: ['callers of one process ask the store as often as one would, and get the lock in order'],
    },
  },
  {
    name: 'lock-gone-with-its-schedule',
    rule: 'P2, a lossy failover',
    breaks: 'A lock that was first made in the moment that a store forgot is given up, though its holder lives.',
    edits: [
      edit(
        'engine/restore/restore.ts',
        'known === undefined || known.definition',
        'known !== null || known.definition',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: ROLLBACK,
      names: ['a lock that was created in the window that the store lost keeps its holder'],
    },
  },
  {
    name: 'step-forgotten-with-its-beginning',
    rule: 'rule 11, a lossy failover',
    breaks: 'A step that a run had begun when the store lost data is not written again, so its successor repeats it.',
    edits: [
      edit('engine/restore/restore.ts', "    await untilDone(core, 'restore (steps)', () => beginAgain(core))\n", ''),
    ],
    caughtBy: {
      judge: 'tests',
      file: ROLLBACK,
      names: ['a key whose start the store lost and whose process then died has an unknown outcome'],
    },
  },
  {
    name: 'key-forgotten-at-its-end',
    rule: 'P4, a lossy failover',
    breaks: 'A key that ends right after the store forgot its beginning can not be ended.',
    edits: [
      edit(
        'engine/run/run-handle.ts',
        "command.kind === 'end' && (isForgotten",
        "command.kind !== 'end' && (isForgotten",
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: ROLLBACK,
      names: ['a key that ends before any instance has noticed that the store lost its start is done'],
    },
  },
  {
    name: 'stands-once',
    rule: 'P8',
    breaks: 'A candidate whose last round ends after the app has started again never stands again.',
    edits: [edit('app/elect.ts', 'this.#standsAgain = this.#standing !== null', 'this.#standsAgain = false')],
    caughtBy: {
      judge: 'tests',
      file: ENDS,
      names: ['a candidate of a stopped app stands again when the app has started'],
    },
  },
]

import { edit, type Mutant } from '../mutant.ts'

const TESTS = 'packages/cronce/test/engine/after-stall.test.ts'

/** Mistakes in catching up after a stall: docs/decisions/004-time.md, "Catching up". */
export const AFTER_STALL_MUTANTS: readonly Mutant[] = [
  {
    name: 'left-schedules-hide-others',
    rule: 'ruling 43',
    breaks: 'Due schedules that are left to their runs hide those behind them.',
    edits: [
      edit(
        'engine/claim/look.ts',
        'Math.min(batch, room + 1) + Math.min(MOST_PASSED_OVER, memory.passedOver + 2 * memory.leftOut)',
        'Math.min(batch, room + memory.passedOver + 1)',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/look.test.ts',
      names: ['whose schedules a look asks for, and how many'],
    },
  },
  {
    name: 'promise-by-its-class',
    rule: 'P7',
    breaks: 'Where an application has replaced the global Promise, a run ends before its handler.',
    edits: [edit('engine/run/execute.ts', 'if (isPromise(value)) {', 'if (value instanceof Promise) {')],
    caughtBy: {
      judge: 'tests',
      file: 'packages/cronce/test/engine/run.test.ts',
      names: ['a handler ends when its promise does, also where the application has replaced the global Promise'],
    },
  },
  {
    name: 'stall-opens-all-at-once',
    rule: 'ruling 43',
    breaks: 'All due times that came together are opened at once, and those that come while they wait are skipped.',
    edits: [
      edit('policy/plan/decide-on.ts', ' ?? claimEarliest(state, context, claimant)', ''),
      edit('engine/claim/decide-due.ts', 'room, idle, oneByOne: true, isFull }', 'room, idle, isFull }'),
      edit('policy/plan/decide-on.ts', 'advancePlain, claimEarliest }', 'advancePlain }'),
    ],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['without claims ahead: after a stall all due times run in order, and no later one is skipped'],
    },
  },
  {
    name: 'stall-skips-behind-a-settlement',
    rule: 'ruling 43',
    breaks: 'A due time is skipped because of a run whose handler has returned.',
    edits: [
      edit('engine/claim/run-in-the-way.ts', 'own.calledAt === undefined || own.ended', 'own.calledAt === undefined'),
    ],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['no due time is skipped because of a run whose handler has returned and whose settlement is under way'],
    },
  },
  {
    name: 'stall-skips-behind-a-start',
    rule: 'ruling 43',
    breaks: 'A due time is skipped because of a run that was claimed and has not started.',
    edits: [
      edit('engine/claim/run-in-the-way.ts', 'own.calledAt === undefined || own.ended', 'own.ended'),
      edit('engine/claim/run-in-the-way.ts', 'Math.min(own.calledAt, now)', 'Math.min(own.calledAt ?? 0, now)'),
    ],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['no due time is skipped because of a run that was claimed and had not started'],
    },
  },
  {
    name: 'stall-waits-for-a-handler',
    rule: 'P7, rule 12',
    breaks: 'A due time that comes while the handler of the run before executes is left until it has returned.',
    edits: [
      edit(
        'engine/claim/run-in-the-way.ts',
        'if (own.calledAt === undefined || own.ended) return null',
        'if (own.calledAt !== 0) return null',
      ),
    ],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: ['a due time that comes while the handler of the run before executes is skipped'],
    },
  },
  {
    name: 'stall-skips-behind-a-planned-start',
    rule: 'ruling 43',
    breaks: 'A due time that came before the handler was called is skipped because its run was claimed before that.',
    edits: [
      edit(
        'engine/claim/run-in-the-way.ts',
        'Math.max(fire.run.startedAt, Math.min(own.calledAt, now))',
        'fire.run.startedAt',
      ),
    ],
    caughtBy: { judge: 'tests', file: TESTS, names: ['a stall between a claim ahead and its start skips no due time'] },
  },
  {
    name: 'stall-skips-before-the-holder-wakes',
    rule: 'ruling 43',
    breaks:
      'After a stall of the whole fleet, a peer skips what came due because of a run that its holder is about to start.',
    edits: [
      edit(
        'engine/claim/run-in-the-way.ts',
        '    if (known?.nextAt === nextAt) return',
        '    if (this.#core.time.estimate() - nextAt >= SOON_MS) return false\n    if (known?.nextAt === nextAt) return',
      ),
    ],
    caughtBy: { judge: 'tests', file: TESTS, names: ['a stall between a claim ahead and its start skips no due time'] },
  },
  {
    name: 'stall-skips-behind-a-long-run',
    rule: 'ruling 43',
    breaks: 'A due time that came before the handler was called is skipped once the handler has executed for a second.',
    edits: [edit('policy/plan/on-time.ts', 'countsFrom(other) < readyAt', 'other.plannedAt < readyAt')],
    caughtBy: {
      judge: 'tests',
      file: TESTS,
      names: [
        'due times of a stall between a claim ahead and its start wait for that run, also if it executes for long',
      ],
    },
  },
]

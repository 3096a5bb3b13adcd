import type { Library } from './library.ts'
import type { Questions, Workload } from './workloads.ts'

/** A workload made ready in a child: `run` does `ops` operations, `answer` the same ones with the answers kept. */
export interface Prepared {
  run(ops: number): Timed
  answer(count: number): number[]
  /** More operations than this would repeat what was already asked. */
  readonly maxOps: number
}

export interface Timed {
  readonly ns: number
  readonly checksum: number
}

/** Every question may be asked this often in a round: a fast library needs some milliseconds to be measured at all. */
const PASSES = 50
/** Then back to the start: a yearly schedule must not walk out of the calendar. */
const STEPS = 50

/** Prepares a workload, or returns why the library cannot take part. */
export function prepareQuestions(library: Library, workload: Workload, questions: Questions): Prepared | string {
  const schedules: unknown[] = []
  for (const [i, expression] of questions.expressions.entries()) {
    try {
      schedules.push(library.parse(expression, questions.zones[i]))
    } catch {
      return `cannot read \`${expression}\``
    }
  }
  switch (workload.ask) {
    case 'next':
      return prepareNext(library, schedules, questions.instants)
    case 'prev':
      return preparePrev(library, schedules, questions.instants)
    case 'iterate':
      return prepareIteration(library, schedules, questions.instants)
  }
}

function prepareNext(library: Library, schedules: unknown[], instants: Float64Array): Prepared {
  const ask = (i: number) => library.next(schedules[i % schedules.length], instants[i % instants.length]!)
  return {
    maxOps: instants.length * PASSES,
    answer: (count) => Array.from({ length: count }, (_, i) => ask(i)),
    run(ops) {
      let checksum = 0
      let schedule = 0
      let question = 0
      const start = process.hrtime.bigint()
      for (let i = 0; i < ops; i++) {
        checksum += library.next(schedules[schedule], instants[question]!)
        if (++schedule === schedules.length) schedule = 0
        if (++question === instants.length) question = 0
      }
      return { ns: Number(process.hrtime.bigint() - start), checksum }
    },
  }
}

// The same loop again, on purpose: one loop for both would make its call site see two functions.
function preparePrev(library: Library, schedules: unknown[], instants: Float64Array): Prepared {
  const prev = library.prev!
  const ask = (i: number) => prev(schedules[i % schedules.length], instants[i % instants.length]!)
  return {
    maxOps: instants.length * PASSES,
    answer: (count) => Array.from({ length: count }, (_, i) => ask(i)),
    run(ops) {
      let checksum = 0
      let schedule = 0
      let question = 0
      const start = process.hrtime.bigint()
      for (let i = 0; i < ops; i++) {
        checksum += prev(schedules[schedule], instants[question]!)
        if (++schedule === schedules.length) schedule = 0
        if (++question === instants.length) question = 0
      }
      return { ns: Number(process.hrtime.bigint() - start), checksum }
    },
  }
}

function prepareIteration(library: Library, schedules: unknown[], starts: Float64Array): Prepared {
  const at = new Float64Array(starts.length)
  const step = library.step ?? library.next
  const rewind = () => {
    at.set(starts)
    if (library.rewind !== undefined)
      for (const [i, schedule] of schedules.entries()) library.rewind(schedule, starts[i]!)
  }
  return {
    maxOps: schedules.length * STEPS * PASSES,
    answer(count) {
      rewind()
      return Array.from({ length: count }, (_, i) => {
        const s = i % schedules.length
        if (i > 0 && i % (schedules.length * STEPS) === 0) rewind()
        at[s] = step(schedules[s], at[s]!)
        return at[s]
      })
    },
    run(ops) {
      rewind()
      let checksum = 0
      let s = 0
      let steps = 0
      const start = process.hrtime.bigint()
      for (let i = 0; i < ops; i++) {
        const answer = step(schedules[s], at[s]!)
        at[s] = answer
        checksum += answer
        if (++s < schedules.length) continue
        s = 0
        if (++steps % STEPS === 0) rewind()
      }
      return { ns: Number(process.hrtime.bigint() - start), checksum }
    },
  }
}

/** Warms the code up for `warmMs` and finds how many operations take `roundMs`. */
export function calibrate(prepared: Prepared, roundMs: number, warmMs: number): number {
  const smallest = 50
  let ops = smallest
  let spent = 0
  for (;;) {
    const { ns } = prepared.run(ops)
    spent += ns
    const fitting = Math.round((ops * roundMs * 1e6) / Math.max(ns, 1))
    if (spent >= warmMs * 1e6) return Math.min(Math.max(fitting, smallest), prepared.maxOps)
    // At most twice as many, since the first operations are slower than any later one.
    ops = Math.min(Math.max(fitting, smallest), ops * 2, prepared.maxOps)
  }
}

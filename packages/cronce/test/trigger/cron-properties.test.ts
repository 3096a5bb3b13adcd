import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { iso } from '../../../checker/src/oracle/ask-oracle.ts'
import { enumerateFires } from '../../../checker/src/oracle/enumerate-fires.ts'
import { readExpression } from '../../../checker/src/oracle/read-expression.ts'
import { type CronTrigger, cron, type Trigger, type TriggerData, trigger } from '../../src/cron.ts'
import { caseScale } from '../case-count.ts'
import {
  cases,
  type GeneratedCase,
  ordinarySpots,
  reachOf,
  type Spot,
  seededRandom,
  transitionSpots,
} from '../oracle/generate-case.ts'

// CRONCE_SEED picks other cases.
const { CRONCE_SEED = '20261101' } = process.env
const SCALE = caseScale(0.3)
const SEED = Number(CRONCE_SEED)

const random = seededRandom(SEED)
let nearTransitions: Spot[] = []
let anywhere: Spot[] = []
let firing = 0
let judged = 0

before(() => {
  nearTransitions = transitionSpots(Math.ceil(4 * Math.sqrt(SCALE)), random)
  anywhere = ordinarySpots(Math.ceil(150 * Math.sqrt(SCALE)), random)
})

after(() => {
  // Expressions that fire nowhere near the instant prove little: most of them must.
  assert.ok(judged > 0 && firing > judged / 2, `${firing} of ${judged} cases had a fire in their window`)
})

const run = (spots: () => Spot[], count: number, judge: (given: Judged) => void) => () =>
  fc.assert(
    fc.property(cases(spots()), (given) => judge(prepare(given))),
    { numRuns: Math.ceil(count * SCALE), seed: SEED, endOnFailure: SCALE > 1 },
  )

const near = () => nearTransitions
const any = () => anywhere

test('next, prev, matches and nextN agree with the oracle around zone changes', run(near, 2500, judgeAnswers))
test('next, prev, matches and nextN agree with the oracle anywhere from 1970 to 2199', run(any, 800, judgeAnswers))
test('prev undoes next and next undoes prev, wherever the question starts', run(near, 600, judgeInverses))
test('the normalized expression denotes the same set', run(near, 900, judgeNormalized))
test('a trigger that went through JSON denotes the same set', run(near, 300, judgeJson))

interface Judged extends GeneratedCase {
  readonly subject: CronTrigger
  readonly from: number
  readonly to: number
  /** The oracle's answer: every fire in [from, to). */
  readonly fires: readonly number[]
  readonly label: string
}

function prepare(given: GeneratedCase): Judged {
  const { spot, expression, options } = given
  const label = `${JSON.stringify(expression)} ${JSON.stringify(options)} near ${iso(spot.at * 1000)}`
  const schedule = readExpression(expression, options)
  const reach = reachOf(schedule)
  const from = (spot.at - reach) * 1000
  const to = (spot.at + reach) * 1000
  const fires = enumerateFires(schedule, options, spot.window, from / 1000, to / 1000).map((second) => second * 1000)
  const subject = cron(expression, options)
  assert.ok(subject.kind === 'cron', label)
  assert.equal(subject.timing, schedule.timing, `timing of ${label}`)
  judged += 1
  if (fires.length > 0) firing += 1
  return { ...given, subject, from, to, fires, label }
}

function judgeAnswers({ subject, from, to, fires, label, spot, probes }: Judged): void {
  assertSameFires(walkForward(subject, from, to), fires, `all fires of ${label}`)
  assertSameFires(walkBack(subject, from, to), fires.slice(-STEPS), `fires of ${label}, backwards`)
  for (const probe of probes) {
    const at = spot.at * 1000 + probe
    if (at < from || at >= to) continue
    const asked = new Date(at).toISOString()
    const index = fires.findIndex((fire) => fire > at)
    // An answer outside the window is "none" as far as the oracle knows.
    const within = (found: number | null) => (found !== null && found >= from && found < to ? iso(found) : null)
    assert.equal(within(subject.next(at)), iso(fires[index] ?? null), `next(${asked}) of ${label}`)
    const earlier = fires.findLast((fire) => fire < at) ?? null
    assert.equal(within(subject.prev(at)), iso(earlier), `prev(${asked}) of ${label}`)
    assert.equal(subject.matches(at), fires.includes(at), `matches(${asked}) of ${label}`)
  }
  for (const fire of fires.slice(0, 20)) {
    assert.equal(subject.matches(fire), true, `matches(${iso(fire)}) of ${label}`)
    assert.equal(subject.matches(fire + 1), false, `matches(${iso(fire)} + 1 ms) of ${label}`)
    assert.equal(subject.next(fire - 1), fire, `next(${iso(fire)} - 1 ms) of ${label}`)
    assert.equal(subject.prev(fire + 1), fire, `prev(${iso(fire)} + 1 ms) of ${label}`)
  }
}

const STEPS = 200

/** Compares numbers, of which there may be thousands, and spells out the first difference only. */
function assertSameFires(actual: readonly number[], expected: readonly number[], label: string): void {
  const longer = actual.length > expected.length ? actual : expected
  const index = longer.findIndex((_, position) => actual[position] !== expected[position])
  assert.equal(iso(actual[index] ?? null), iso(expected[index] ?? null), `fire ${index} of ${label}`)
}

function walkForward(subject: Trigger, from: number, to: number): number[] {
  const answers: number[] = []
  // Asked in portions, so that the portions' seams are tested too.
  for (let at = from - 1; ; ) {
    const portion = subject.nextN(at, 500)
    const inside = portion.filter((fire) => fire < to)
    answers.push(...inside)
    const last = portion.at(-1)
    if (inside.length < 500 || last === undefined) return answers
    assert.ok(last > at, 'nextN must advance')
    at = last
  }
}

/** The last fires before `to`, at most STEPS of them, ascending, by asking prev again and again. */
function walkBack(subject: Trigger, from: number, to: number): number[] {
  const answers: number[] = []
  let at = subject.prev(to)
  while (at !== null && at >= from && answers.length < STEPS) {
    answers.push(at)
    at = subject.prev(at)
  }
  return answers.reverse()
}

function judgeInverses({ subject, label, spot, probes }: Judged): void {
  for (const probe of probes) {
    const at = spot.at * 1000 + probe
    const next = subject.next(at) ?? Number.POSITIVE_INFINITY
    const prev = subject.prev(at) ?? Number.NEGATIVE_INFINITY
    assert.ok(prev < at && at < next, `${prev} < ${at} < ${next} of ${label}`)
    // What lies between the two neighbours is the question itself, or nothing.
    const between = subject.matches(at) ? at : undefined
    assert.equal(stepBack(subject, next), between ?? prev, `prev(next(${at})) of ${label}`)
    assert.equal(stepForth(subject, prev), between ?? next, `next(prev(${at})) of ${label}`)
    assert.deepEqual(subject.nextN(at, 3), iterate(subject, at, 3), `nextN against next of ${label}`)
  }
}

/** prev, where "after the last fire" is the end of time. */
function stepBack(subject: Trigger, at: number): number {
  return subject.prev(Math.min(at, 8.64e15)) ?? Number.NEGATIVE_INFINITY
}

function stepForth(subject: Trigger, at: number): number {
  return subject.next(Math.max(at, -8.64e15)) ?? Number.POSITIVE_INFINITY
}

function iterate(subject: Trigger, from: number, count: number): number[] {
  const answers: number[] = []
  for (let at = subject.next(from); at !== null && answers.length < count; at = subject.next(at)) answers.push(at)
  return answers
}

function judgeNormalized({ subject, from, to, fires, label, options }: Judged): void {
  const { wrap: _wrap, days, ...rest } = options
  // A reader of the text may or may not know the rule for the day fields: the text alone must suffice.
  for (const again of [cron(subject.normalized, rest), cron(subject.normalized, { ...rest, days })]) {
    assertSameFires(walkForward(again, from, to), fires, `${subject.normalized} from ${label}`)
    assert.ok(again.kind === 'cron' && again.timing === subject.timing, `timing of ${subject.normalized} from ${label}`)
    assert.equal(again.normalized, subject.normalized, `normalized twice, from ${label}`)
  }
  assert.match(subject.normalized, /^[\d*,\-/?+#LW ]+$/, `numbers only, from ${label}`)
}

function judgeJson({ subject, from, to, fires, label }: Judged): void {
  const data = JSON.parse(JSON.stringify(subject)) as TriggerData
  const again = trigger(data)
  assertSameFires(walkForward(again, from, to), fires, `${JSON.stringify(data)} from ${label}`)
  assert.deepEqual(JSON.parse(JSON.stringify(again)), data, label)
}

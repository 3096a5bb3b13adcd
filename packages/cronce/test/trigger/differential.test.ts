import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import { iso, oracleNext } from '../../../checker/src/oracle/ask-oracle.ts'
import { type OffsetChange, scanZone } from '../../../checker/src/oracle/zone-clock.ts'
import { cron } from '../../src/cron.ts'
import { caseScale } from '../case-count.ts'
import { ordinarySpots, type Spot, seededRandom, transitionSpots } from '../oracle/generate-case.ts'
import { AFTER_SHORT_MONTH, DECISIONS, type Disagreement, NO_NEXT, type Peer } from './peer-decisions.ts'
import { commonExpression, dayExpression } from './peer-expressions.ts'

// Two mature libraries against ours. Where they differ, a decision in peer-decisions.ts must say why, and the oracle
// must be on our side. docs/cron-differences.md is the same list for readers.

const DEFAULT_SEED = '20261101'
const { CRONCE_SEED = DEFAULT_SEED } = process.env
const SCALE = caseScale(1)
const random = seededRandom(Number(CRONCE_SEED))

const PEERS: Readonly<Record<Peer, (expression: string, tz: string, from: number) => number | null | 'error'>> = {
  croner: cronerNext,
  'cron-parser': (expression, tz, from) => {
    try {
      return CronExpressionParser.parse(expression, { tz, currentDate: new Date(from) })
        .next()
        .toDate()
        .getTime()
    } catch {
      return 'error'
    }
  },
}

function cronerNext(expression: string, tz: string, from: number): number | null {
  return new Cron(expression, { timezone: tz, paused: true }).nextRun(new Date(from))?.getTime() ?? null
}

interface Question {
  readonly expression: string
  readonly spot: Spot
  readonly from: number
}

function compare(peer: Peer, questions: readonly Question[]): Map<string, number> {
  const seen = new Map<string, number>()
  for (const { expression, spot, from } of questions) {
    const label = `${peer}: next(${iso(from)}) of ${expression} in ${spot.tz}`
    const ours = cron(expression, { tz: spot.tz }).next(from)
    const theirs = PEERS[peer](expression, spot.tz, from)
    if (ours === theirs) continue
    assert.equal(iso(ours), iso(oracleNext(expression, { tz: spot.tz }, from)), `${label}, by the oracle`)
    const found: Disagreement = {
      expression,
      tz: spot.tz,
      from,
      ours,
      theirs,
      changes: changesNear({ expression, spot, from }),
    }
    const decision = DECISIONS[peer].find(({ holds }) => holds(found))
    const answer = theirs === 'error' ? theirs : iso(theirs)
    assert.ok(decision, `${label}: ours ${iso(ours)}, theirs ${answer}, and no decision says why`)
    seen.set(decision.name, (seen.get(decision.name) ?? 0) + 1)
  }
  return seen
}

/** The zone's changes around the question and around our answer, which may be weeks later. */
function changesNear({ expression, spot, from }: Question): readonly OffsetChange[] {
  const answer = (cron(expression, { tz: spot.tz }).next(from) ?? from) / 1000
  return [...spot.window.changes, ...scanZone(spot.tz, answer - 172_800, answer + 172_800).changes]
}

/** Most of them: those away from zone changes. */
function quietOnes(questions: readonly Question[]): Question[] {
  const quiet = questions.filter((question) => changesNear(question).length === 0)
  assert.ok(quiet.length > questions.length / 2, `${quiet.length} of ${questions.length} are away from zone changes`)
  return quiet
}

/** Away from zone changes nothing else may differ. */
const unexpected = (seen: ReadonlyMap<string, number>): string[] =>
  [...seen.keys()].filter((name) => name !== NO_NEXT && name !== AFTER_SHORT_MONTH)

/** Most questions lie shortly before the spot, where the change is the next thing to happen. */
function ask(spots: readonly Spot[], count: number, write: (spot: Spot, random: () => number) => string): Question[] {
  return Array.from({ length: Math.ceil(count * SCALE) }, () => {
    const spot = spots[Math.floor(random() * spots.length)]!
    const reach = random() < 0.5 ? 4 * 3600 : 30 * 3600
    const from = (spot.at + Math.floor((random() - 0.65) * reach)) * 1000
    return { spot, from, expression: write(spot, random) }
  })
}

const transitions = transitionSpots(1, random)
// croner and cron-parser end before our years do.
const ordinary = ordinarySpots(40, random).filter(({ at }) => at < Date.UTC(2100, 0, 1) / 1000)

const nearChanges = ask(transitions, 600, commonExpression)
const elsewhere = quietOnes(ask(ordinary, 300, commonExpression))
const dayRules = quietOnes(ask(ordinary, 300, dayExpression))

for (const peer of ['croner', 'cron-parser'] as const) {
  test(`${peer} differs around zone changes only where a decision gives the reason`, () => {
    const seen = compare(peer, nearChanges)
    const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
    assert.ok(total > 0 && total < nearChanges.length / 2, `${total} of ${nearChanges.length} differ`)
    // A decision that never applies is outdated or wrong. Other seeds may miss one by chance.
    const demanded = CRONCE_SEED === DEFAULT_SEED ? DECISIONS[peer].filter(({ rare }) => !rare) : []
    assert.deepEqual(
      demanded.map(({ name }) => name).filter((name) => !seen.has(name)),
      [],
    )
  })

  test(`${peer} agrees away from zone changes`, () => {
    assert.deepEqual(unexpected(compare(peer, elsewhere)), [])
  })

  test(`${peer} agrees on L, # and weekday lists`, () => {
    assert.deepEqual(unexpected(compare(peer, dayRules)), [])
  })
}

test('croner overlooks 1 March when it comes from February, we do not', () => {
  const from = Date.parse('2034-02-22T00:00Z')
  assert.notEqual(iso(cronerNext('59 23 */10 * *', 'UTC', from)), '2034-03-01T23:59:00Z')
  assert.equal(iso(cron('59 23 */10 * *').next(from)), '2034-03-01T23:59:00Z')
  assert.equal(iso(oracleNext('59 23 */10 * *', {}, from)), '2034-03-01T23:59:00Z')
})

test('croner agrees on W', () => {
  const questions = ask(ordinary, 150, (_, next) => `0 12 ${1 + Math.floor(next() * 31)}W * *`)
  assert.deepEqual([...compare('croner', quietOnes(questions))], [])
})

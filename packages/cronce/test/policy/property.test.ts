import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { caseScale } from '../case-count.ts'
import { Play, plays } from './play.ts'

// CRONCE_SEED picks other cases.
const { CRONCE_SEED = '2' } = process.env
const SCALE = caseScale(0.3)
const SEED = Number(CRONCE_SEED)

const reached = new Map<string, number>()

test('under every sequence of actions, no fire is lost, doubled, early, stuck or out of bounds', () => {
  fc.assert(
    fc.property(plays, ({ seed, definitions, acts }) => {
      const play = new Play(seed, definitions)
      for (const act of acts) play.act(act)
      play.end()
      for (const what of play.reached) reached.set(what, (reached.get(what) ?? 0) + 1)
    }),
    { numRuns: Math.ceil(400 * SCALE), seed: SEED, endOnFailure: SCALE > 1 },
  )
})

test('the random commands reached enough states', () => {
  // If no command had an effect, the property would hold trivially.
  const wanted = [
    ...['succeeded completed', 'failed error', 'failed timeout', 'failed retry-too-late'],
    ...['skipped overlap', 'skipped queue-full', 'skipped paused', 'skipped skipped-by-operator', 'skipped calendar'],
    ...['missed late', 'missed superseded', 'missed too-late'],
    ...['abandoned crashed', 'abandoned crash-budget', 'abandoned stopped', 'abandoned recovery-too-late'],
    ...['cancelled cancelled-by-operator', 'cancelled replaced', 'cancelled retired', 'cancelled handed-back'],
    ...['range', 'split range', 'round of a backfill', 'backfill of nothing on record', 'chunk', 'revoked'],
    ...['removed', 'redefined', 'paused by failures', 'suspect', 'trim', 'plain claim', 'plain settlement'],
    ...['left unplanned', 'range of a calendar'],
  ]
  const missing = wanted.filter((what) => !reached.has(what))
  assert.deepEqual(missing, [], `reached: ${JSON.stringify(Object.fromEntries(reached))}`)
})

test('the same commands with the same seed come to the same', () => {
  const [given] = fc.sample(plays, { numRuns: 1, seed: SEED })
  const tell = () => {
    const play = new Play(given!.seed, given!.definitions)
    for (const act of given!.acts) play.act(act)
    return JSON.stringify([play.keeper.state, play.keeper.list(), [...play.keeper.runs.values()]])
  }
  assert.equal(tell(), tell())
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT, exitCode } from './report.ts'
import { type ProgramRun, runUntilJudged } from './run-program.ts'

const late = { property: 'C6', basis: 'time', message: 'late', seed: 1 } as const
const twice = { property: 'C2', basis: 'order', message: 'twice', seed: 1 } as const
const GOOD = { violations: [], surprises: [], lacking: [] }

test('a run is good, bad, slow if only elapsed time is wrong, or invalid if it covers too little', () => {
  assert.equal(exitCode(GOOD), EXIT.good)
  assert.equal(exitCode({ ...GOOD, violations: [late, twice] }), EXIT.bad)
  assert.equal(exitCode({ ...GOOD, surprises: ['w1.1 ended by itself with 1'] }), EXIT.bad)
  assert.equal(exitCode({ ...GOOD, violations: [late] }), EXIT.slow)
  assert.equal(exitCode({ ...GOOD, lacking: ['witnessed time for C12: none'] }), EXIT.invalid)
  assert.equal(exitCode({ ...GOOD, violations: [late], lacking: ['kill: 0 of at least 1'] }), EXIT.slow)
})

/** What becomes of runs that end with these codes, one after the other. */
async function judge(...codes: readonly number[]): Promise<{ readonly seeds: number[]; readonly said: string[] }> {
  const seeds: number[] = []
  const said: string[] = []
  const start = async (seed: number): Promise<ProgramRun> => {
    const code = codes[seeds.push(seed) - 1]!
    const lacking = code === EXIT.invalid ? ['witnessed time for C12: none'] : []
    return { code, summary: { fires: 2, required: 1, violations: code === EXIT.slow ? [late] : [], lacking }, told: '' }
  }
  await runUntilJudged(start, (line) => said.push(line), 7)
  return { seeds, said }
}

test('a run without a verdict is tried again with another seed, and every seed is named', async () => {
  assert.deepEqual(await judge(EXIT.good), { seeds: [7], said: ['CRONCE_SEED=7: good'] })
  const { seeds, said } = await judge(EXIT.invalid, EXIT.slow, EXIT.invalid, EXIT.good)
  assert.deepEqual(seeds, [7, 8, 9, 10])
  assert.deepEqual(said, [
    'CRONCE_SEED=7: invalid, witnessed time for C12: none',
    'CRONCE_SEED=8: slow, late',
    'CRONCE_SEED=9: invalid, witnessed time for C12: none',
    'CRONCE_SEED=10: good',
  ])
})

test('a bad run, two slow ones, and no verdict at all fail', async () => {
  await assert.rejects(judge(EXIT.bad, EXIT.good))
  await assert.rejects(judge(EXIT.invalid, EXIT.bad))
  await assert.rejects(judge(EXIT.slow, EXIT.slow, EXIT.good))
  await assert.rejects(judge(EXIT.invalid, EXIT.invalid, EXIT.invalid, EXIT.invalid, EXIT.good), /No verdict/)
  await assert.rejects(judge(64))
})

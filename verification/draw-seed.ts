import { randomInt } from 'node:crypto'

const MOST = 2 ** 31

/** The seed to begin with: `CRONCE_SEED`, which repeats an earlier run, or another one each time. */
export function drawSeed(environment: NodeJS.ProcessEnv = process.env): number {
  const { CRONCE_SEED } = environment
  if (CRONCE_SEED === undefined || CRONCE_SEED === '') return randomInt(MOST)
  const seed = Number(CRONCE_SEED)
  if (Number.isInteger(seed) && seed >= 0 && seed < MOST) return seed
  throw new Error(`CRONCE_SEED must be a whole number from 0 to ${MOST - 1}, but is "${CRONCE_SEED}".`)
}

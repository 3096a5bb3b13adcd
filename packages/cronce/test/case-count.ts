const { CRONCE_CASES = '1', CRONCE_LONG } = process.env

/**
 * By how much a test multiplies its number of random cases: in `npm test` it tries this share of them, with CRONCE_LONG=1 all.
 * CRONCE_CASES=50 makes fifty times as many of either.
 */
export function caseScale(share: number): number {
  return Number(CRONCE_CASES) * (CRONCE_LONG === '1' ? 1 : share)
}

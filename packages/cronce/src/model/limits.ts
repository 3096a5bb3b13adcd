/** How much of anything is kept. What goes in is refused when it is larger, what comes out is cut with a mark. */
export const LIMITS = {
  /** Names of schedules, jobs, groups, tenants and authors, in characters. */
  name: 200,
  /** Input of a schedule or a manual fire, in bytes of its JSON. */
  input: 65_536,
  /** How deep JSON may be nested: a fixed limit, so that acceptance does not depend on how much stack is left. */
  depth: 64,
  /** Result of a run, in bytes of its JSON. */
  result: 16_384,
  errorMessage: 4_096,
  stack: 16_384,
  /** Log of a run, in characters, and each of its lines. */
  log: 65_536,
  logLine: 4_096,
  /** Names of durable steps. */
  step: 200,
  /** Result of a durable step, in bytes of its JSON. */
  stepResult: 65_536,
  /** The operator's note on a pause or a cancel. */
  note: 1_000,
  dedupeKey: 200,
  /** Fires of one schedule that have not ended. */
  openFires: 1_000,
} as const

const MARK = '… (cut)'

/** The text, or as much of it as fits with a mark behind it. Never longer than `max`, never half a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  let end = Math.max(0, max - MARK.length)
  const last = text.charCodeAt(end - 1)
  // A high surrogate without its other half is not a text.
  if (last >= 0xd800 && last <= 0xdbff) end--
  return (text.slice(0, end) + MARK).slice(0, max)
}

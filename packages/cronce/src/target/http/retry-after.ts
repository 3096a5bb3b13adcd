const DAY_MS = 86_400_000

/** What `Retry-After` asks for, in seconds or as a date, at most a day. `undefined`: nothing that makes sense. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? ''
  if (/^\d{1,15}$/.test(value)) return Math.min(Number(value) * 1_000, DAY_MS)
  // Only dates as HTTP writes them: Date.parse takes almost anything for one.
  const at = /^[A-Z][a-z]{2,8},? [\w :-]+(GMT|\d)$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), DAY_MS)
}

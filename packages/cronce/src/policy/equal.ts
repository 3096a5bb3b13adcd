/** Whether two pieces of plain data are equal. `undefined` properties count as absent, as in JSON. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].every((name) => isEqual(left[name], right[name]))
}

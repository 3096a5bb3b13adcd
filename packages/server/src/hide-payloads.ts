/** Fields that hold data of the application. */
const PAYLOADS: ReadonlySet<string> = new Set(['input', 'result'])

/** What stands in the place of a value that the option `redact` names. */
export const REDACTED = '[redacted]'

/** An answer for a caller without the right `seeInput`: these fields are null, however deep they are. */
export function hidePayloads(json: string): string {
  return JSON.stringify(JSON.parse(json), (name, value: unknown) => (PAYLOADS.has(name) ? null : value))
}

/** An answer for all other callers: fields of inputs and results that have one of these names, in lower case, are redacted. */
export function redactPayloads(json: string, names: ReadonlySet<string>): string {
  if (names.size === 0) return json
  const redact = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, inner: unknown) => (names.has(name.toLowerCase()) ? REDACTED : inner))
  return JSON.stringify(JSON.parse(json), (name, value: unknown) =>
    PAYLOADS.has(name) && value !== null ? redact(value) : value,
  )
}

/** Whether a value that a caller sends contains what the server has redacted: storing it would erase the real one. */
export function hasRedacted(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(JSON.stringify(REDACTED))
}

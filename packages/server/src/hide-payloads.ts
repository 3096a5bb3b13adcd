/** Fields that hold data of the application. */
const PAYLOADS: ReadonlySet<string> = new Set(['input', 'result'])

/** An answer for a caller without the right `seeInput`: these fields are null, however deep they are. */
export function hidePayloads(json: string): string {
  return JSON.stringify(JSON.parse(json), (name, value: unknown) => (PAYLOADS.has(name) ? null : value))
}

/** ` line 3, column 7`, from what JSON.parse says about a text that it could not read; empty if it does not tell. */
export function jsonPlace(text: string, message: string): string {
  const stated = /\bposition (\d+)/.exec(message)?.[1]
  const position = stated === undefined && /end of JSON/i.test(message) ? text.length : Number(stated)
  if (!Number.isInteger(position)) return ''
  const before = text.slice(0, position).split('\n')
  return `, line ${before.length}, column ${before.at(-1)!.length + 1},`
}

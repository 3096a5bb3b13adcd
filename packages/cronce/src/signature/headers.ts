/** Headers as `fetch`, Node and most frameworks have them. */
export type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** Header names in lower case, with their values. */
export type PlainHeaders = Readonly<Record<string, string>>

/** By lower-case name; what came several times is joined as HTTP says. */
export function plainHeaders(source: HeaderSource): Map<string, string> {
  const headers = new Map<string, string>()
  const add = (name: string, value: string | readonly string[] | undefined): void => {
    if (value !== undefined)
      headers.set(name.toLowerCase(), (typeof value === 'string' ? value : value.join(', ')).trim())
  }
  if (isHeaders(source)) for (const [name, value] of source) add(name, value)
  else for (const [name, value] of Object.entries(source)) add(name, value)
  return headers
}

/** Not by class: frameworks bring their own. */
function isHeaders(source: HeaderSource): source is Headers {
  return typeof source.get === 'function' && Symbol.iterator in source
}

/** What a header can't carry as it is, and the percent sign, as `encodeURIComponent` writes them. */
export function encodeHeader(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x24\x26-\x7e]+/g, encodeURIComponent)
}

/** `null`: nothing that `encodeHeader` has written. */
export function decodeHeader(value: string): string | null {
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}

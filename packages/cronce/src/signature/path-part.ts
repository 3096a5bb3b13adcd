/**
 * Encodes a name as one part of a URL's path. URL parsers resolve `.` and `..` as steps, so these two names get a leading `=`.
 * It is unambiguous: percent-encoding turns the `=` of any other name into `%3D`.
 */
export function pathPart(name: string): string {
  return name === '.' || name === '..' ? `=${name}` : encodeURIComponent(name)
}

/** Decodes what `pathPart` has encoded. Throws if it is not percent-encoded text. */
export function nameOfPart(part: string): string {
  return decodeURIComponent(part.startsWith('=') ? part.slice(1) : part)
}

/**
 * A name as a part of a URL's path. `.` and `..` alone can't be sent as they are, since every URL parser takes them for
 * steps: a part that begins with `=` stands for what follows. A name that itself begins with that is percent-encoded (`%3D`)
 * by everybody, so the two never meet.
 */
export function pathPart(name: string): string {
  return name === '.' || name === '..' ? `=${name}` : encodeURIComponent(name)
}

/** The name that `pathPart` has written. Throws if it is not percent-encoded text. */
export function nameOfPart(part: string): string {
  return decodeURIComponent(part.startsWith('=') ? part.slice(1) : part)
}

/** Where the API begins: what tells a path with a base before it from one without. */
export const ROOTS = ['/api/v1', '/healthz', '/livez', '/readyz', '/openapi.json', '/metrics'] as const

/** The path of a URL as it was written: names in it are percent-encoded, and slashes in them must stay so. */
export function rawPath(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start < 0) return '/'
  const end = url.slice(start).search(/[?#]/)
  return end < 0 ? url.slice(start) : url.slice(start, start + end)
}

/**
 * The path below one of the bases. A host may have stripped the base, and the base may look like the API itself (`/api`): so it
 * is stripped only where what is left makes sense.
 */
export function pathBelow(bases: readonly string[], path: string): string {
  const rests = bases
    .filter((base) => base !== '' && path.startsWith(`${base}/`))
    .map((base) => path.slice(base.length))
  return rests.find(isRooted) ?? path
}

function isRooted(path: string): boolean {
  return ROOTS.some((root) => path === root || path.startsWith(`${root}/`))
}

/** Where it seems to be mounted without having been told so. */
export function guessBase(path: string): string | null {
  const at = Math.min(
    ...ROOTS.map((root) => `${path}/`.indexOf(`${root}/`)).map((index) =>
      index < 1 ? Number.POSITIVE_INFINITY : index,
    ),
  )
  return Number.isFinite(at) ? path.slice(0, at) : null
}

const bases = new WeakMap<Request, string>()

/** An adapter that knows where its host has mounted it says so. */
export function setBase(request: Request, base: string): void {
  bases.set(request, base)
}

/** Where the host has mounted the handler, if it says so: what is before the handler's own paths. */
export function baseOf(request: Request): string | undefined {
  return bases.get(request)
}

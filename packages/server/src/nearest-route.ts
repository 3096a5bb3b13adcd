import { didYouMean } from 'cronce/internal'
import type { Route } from './routes/route.ts'

/** What to ask for instead of a path that no route has, as a hint; `undefined`: no route is near. */
export function nearestRoute(path: string, routes: readonly Pick<Route, 'path'>[]): string | undefined {
  const templates = [...new Set(routes.map((route) => route.path))].map((template) => template.split('/'))
  const bare = path.replace(/^\/(?:api|v1)(?=\/)/, '')
  const prefixed = `/api/v1${bare}`.split('/')
  if (bare !== path || !path.startsWith('/api/')) {
    if (templates.some((template) => differing(template, prefixed).length === 0)) {
      return `Did you mean ${prefixed.join('/')}?`
    }
  }
  const written = path.split('/')
  const near = templates.map((template) => misspelled(template, written)).find((found) => found !== undefined)
  if (near !== undefined) return `Did you mean ${near}?`
  const [, collection, name] = /^(\/api\/v1\/schedules\/)([^/]+\/.+)$/.exec(path) ?? []
  return name === undefined ? undefined : `Write a slash in a name as %2F: ${collection}${name.replaceAll('/', '%2F')}.`
}

/** The path of the template, if one part of what was written is misspelled and all others fit. */
function misspelled(template: readonly string[], written: readonly string[]): string | undefined {
  const [at, ...others] = differing(template, written)
  if (at === undefined || others.length > 0 || template.length !== written.length) return undefined
  return didYouMean(written[at]!, [template[at]!]) === undefined ? undefined : written.with(at, template[at]!).join('/')
}

/** Where the two differ; a name fits every `:name`. */
function differing(template: readonly string[], written: readonly string[]): number[] {
  const longest = template.length > written.length ? template : written
  return [...longest.keys()].filter(
    (at) => template[at] !== written[at] && !(template[at]?.startsWith(':') && written[at]),
  )
}

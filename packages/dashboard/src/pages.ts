import { gunzipSync } from 'node:zlib'
import { baseOf } from '@cronce/server'
import { CronceError } from 'cronce'
import { BUILT_UI, type BuiltAsset, type BuiltUi } from './built-ui.ts'
import { CLOSED_PAGE, CONTENT_SECURITY_POLICY, type Environment, ICON, renderPage } from './page.ts'

export interface PagesOptions {
  readonly basePath: string
  /** There is no access function, so every request is refused. */
  readonly isClosed: boolean
  readonly environment: Required<Environment> | null
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}
/** The name of an asset changes with its contents. */
const FOR_EVER = 'public, max-age=31536000, immutable'

/** Answers requests for the page and its assets; `null`: the request is for the API. */
export function createPages(options: PagesOptions): (request: Request) => Response | null {
  const ui = demandUi(BUILT_UI)
  const html = renderPage(ui, options.environment)
  const assets = new Map(ui.assets.map((asset) => [asset.name, asset]))
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const { pathname } = new URL(request.url)
    const [, name] = /\/assets\/([\w.-]+)$/.exec(pathname) ?? []
    if (name === 'icon.svg') return answer(ICON, 'image/svg+xml', 'public, max-age=86400')
    const asset = name === undefined ? undefined : assets.get(name)
    if (asset !== undefined) return answerAsset(asset, request)
    const bases = [baseOf(request) ?? '', options.basePath, '']
    if (bases.some((base) => pathname === `${base}/`)) return answerPage(html, options.isClosed)
    return bases.includes(pathname) ? redirect(`${pathname.split('/').at(-1)}/`) : null
  }
}

function demandUi(ui: BuiltUi | null): BuiltUi {
  if (ui !== null) return ui
  throw new CronceError('OPTION_INVALID', 'The user interface of the dashboard was not built.', {
    hint: 'Import @cronce/dashboard, or run npm run build first.',
  })
}

function answerPage(html: string, isClosed: boolean): Response {
  const type = 'text/html; charset=utf-8'
  return isClosed ? answer(CLOSED_PAGE, type, 'no-store', 403) : answer(html, type, 'no-cache')
}

function answerAsset({ type, gzip }: BuiltAsset, { headers }: Request): Response {
  const bytes = Buffer.from(gzip, 'base64')
  const isCompressed = /\bgzip\b/.test(headers.get('accept-encoding') ?? '')
  const response = answer(new Uint8Array(isCompressed ? bytes : gunzipSync(bytes)), type, FOR_EVER)
  response.headers.set('vary', 'accept-encoding')
  if (isCompressed) response.headers.set('content-encoding', 'gzip')
  return response
}

function answer(body: string | Uint8Array<ArrayBuffer>, type: string, cache: string, status = 200): Response {
  return new Response(body, { status, headers: { ...HEADERS, 'content-type': type, 'cache-control': cache } })
}

/** Relative, as everything: the page needs the slash at the end of its path. */
function redirect(location: string): Response {
  return new Response(null, { status: 308, headers: { ...HEADERS, location, 'cache-control': 'no-store' } })
}

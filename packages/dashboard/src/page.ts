import { CronceError } from 'cronce'
import type { BuiltUi } from './built-ui.ts'

/** The badge in the header. */
export interface Environment {
  readonly label: string
  /** `danger` is for what must not be changed by mistake. @default 'danger' for names like production, else 'calm' */
  readonly tone?: 'calm' | 'notice' | 'danger' | undefined
}

/** No script or style but our own files, no connection but to this server, no plugin, no form that is sent, no foreign frame. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const LABEL_MOST = 40

export function readEnvironment(given: unknown): Required<Environment> | null {
  if (given === undefined) return null
  const { label, tone } = (typeof given === 'string' ? { label: given } : given) as Partial<Environment>
  if (typeof label !== 'string' || label === '' || label.length > LABEL_MOST) {
    throw new CronceError('OPTION_INVALID', `environment has no label of 1 to ${LABEL_MOST} characters.`, {
      hint: "Write environment: 'production', or environment: { label: 'staging', tone: 'notice' }.",
    })
  }
  return { label, tone: tone ?? (/^(prod|live)/i.test(label) ? 'danger' : 'calm') }
}

/** All URLs are relative: a proxy may show the page under any path. */
export function renderPage(ui: BuiltUi, environment: Required<Environment> | null): string {
  const settings = escapeAttribute(JSON.stringify({ environment }))
  const preload = ui.preload.map((name) => `<link rel="modulepreload" href="assets/${name}">`).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="cronce-settings" content="${settings}">
<title>cronce</title>
<link rel="icon" type="image/svg+xml" href="assets/icon.svg">
<link rel="stylesheet" href="assets/${ui.style}">
${preload}<script type="module" src="assets/${ui.script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript. The command cronce shows the same in a terminal.</noscript>
</body>
</html>
`
}

export const CLOSED_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>cronce</title></head>
<body>
<h1>This dashboard is closed</h1>
<p>It has no access function, so it shows nothing. Give createDashboard the option access: a function that says who may read and who may operate.</p>
</body>
</html>
`

/** A clock face: one circle, two hands. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="13" fill="#3f51c7"/><path d="M16 8v8l6 4" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

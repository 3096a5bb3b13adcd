import { posix } from 'node:path'
import { addressOf } from './pages.ts'
import { escapeHtml, type Rendered } from './render.ts'

export interface NavGroup {
  readonly title: string
  readonly pages: readonly { readonly file: string; readonly title: string }[]
}

/** A whole page. Everything that it loads is of the site itself. */
export function shell(file: string, { title, html, sections }: Rendered, nav: readonly NavGroup[]): string {
  const address = addressOf(file)
  const root = posix.relative(posix.dirname(address), '.') || '.'
  const flat = nav.flatMap(({ pages }) => pages)
  const at = flat.findIndex((page) => page.file === file)
  const name = file === 'README.md' ? 'cronce: every scheduled fire once across the fleet' : `${title} · cronce`
  const contents = sections
    .slice(1)
    .map(({ heading, anchor }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`)
    .join('')
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'">
<title>${escapeHtml(name)}</title>
<link rel="stylesheet" href="${root}/site.css">
<link rel="icon" href="${root}/icon.svg">
<script type="module" src="${root}/site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}/index.html">cronce</a>
<button id="menu" aria-expanded="false" aria-controls="nav">Menu</button>
<div class="search"><input id="search" type="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off"><ul id="results" hidden></ul></div>
<button id="theme">Theme</button>
</header>
<nav id="nav" aria-label="Pages">${nav.map((group) => navGroup(group, file, address)).join('')}</nav>
<main id="content">
${html}
<footer>${neighbor(flat[at - 1], 'Previous', address)}${neighbor(flat[at + 1], 'Next', address)}</footer>
</main>
<aside aria-label="On this page">${contents === '' ? '' : `<p>On this page</p><ul>${contents}</ul>`}</aside>
</body>
</html>
`
}

function navGroup({ title, pages }: NavGroup, current: string, address: string): string {
  const items = pages.map(({ file, title: name }) => {
    const mark = file === current ? ' aria-current="page"' : ''
    return `<li><a href="${way(address, file)}"${mark}>${escapeHtml(file === 'README.md' ? 'What cronce is' : name)}</a></li>`
  })
  const isOpen = pages.some(({ file }) => file === current) || pages.length < 12
  return `<details${isOpen ? ' open' : ''}><summary>${title}</summary><ul>${items.join('')}</ul></details>`
}

function neighbor(page: NavGroup['pages'][number] | undefined, word: string, address: string): string {
  if (page === undefined) return '<span></span>'
  return `<a href="${way(address, page.file)}"><small>${word}</small>${escapeHtml(page.title)}</a>`
}

function way(from: string, file: string): string {
  return posix.relative(posix.dirname(from), addressOf(file)) || posix.basename(from)
}

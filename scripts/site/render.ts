import { createRequire } from 'node:module'
import { posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import { addressOf } from './pages.ts'

/** A part of a page with a heading of its own: what the search finds. */
export interface Section {
  readonly heading: string
  readonly anchor: string
  text: string
}

export interface Rendered {
  readonly title: string
  readonly html: string
  readonly sections: readonly Section[]
  /** Files that the page shows or links, other than pages. */
  readonly files: readonly string[]
  /** Repository files of the pages that it links, with their anchors. */
  readonly links: readonly { readonly file: string; readonly anchor: string }[]
}

/** Without its types, which bring those of browsers into every file of the project. */
interface Highlighter {
  getLanguage(name: string): object | undefined
  highlight(code: string, options: { readonly language: string }): { readonly value: string }
}

const hljs: Highlighter = createRequire(import.meta.url)('highlight.js/lib/common')
const REPOSITORY = 'https://github.com/cronce/cronce'
const EXTERNAL = /^[a-z]+:/
const ASSET = /\.(?:svg|png|webp)$/

/** `isPage`: whether the site has a page for this file of the repository. Anything else is linked in the repository. */
export function render(file: string, text: string, isPage: (file: string) => boolean): Rendered {
  const sections: Section[] = []
  const files = new Set<string>()
  const links: { file: string; anchor: string }[] = []
  const address = addressOf(file)
  const names = new Map<string, number>()

  const place = (href: string): string => {
    if (EXTERNAL.test(href)) return href
    const [path = '', anchor = ''] = href.split('#')
    if (path === '') {
      links.push({ file, anchor })
      return `#${anchor}`
    }
    const target = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, '')
    if (isPage(target)) {
      links.push({ file: target, anchor })
      const way = posix.relative(posix.dirname(address), addressOf(target)) || posix.basename(address)
      return anchor === '' ? way : `${way}#${anchor}`
    }
    if (!ASSET.test(target)) return `${REPOSITORY}/tree/main/${target}`
    files.add(target)
    return posix.relative(posix.dirname(address), target.replace(/^docs\//, ''))
  }

  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const inner = this.parser.parseInline(tokens)
        const heading = plain(inner)
        const anchor = unique(anchorOf(heading), names)
        sections.push({ heading, anchor, text: '' })
        const mark = depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`
        return `<h${depth} id="${anchor}">${inner}${mark}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(place(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text: alternative }: Tokens.Image) {
        return `<img src="${escapeHtml(place(href))}" alt="${escapeHtml(alternative)}" loading="lazy">`
      },
      code({ text: code, lang = '' }: Tokens.Code) {
        const [language = ''] = lang.split(' ')
        const known = hljs.getLanguage(language) !== undefined
        const inner = known ? hljs.highlight(code, { language }).value : escapeHtml(code)
        addText(code)
        return `<pre tabindex="0"><code>${inner}</code></pre>\n`
      },
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): string =>
          `<tr>${cells.map((cell) => `<${tag}${align(cell.align)}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n')
        for (const cells of token.rows) for (const cell of cells) addText(cell.text)
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
      },
      paragraph({ tokens }: Tokens.Paragraph) {
        const inner = this.parser.parseInline(tokens)
        addText(plain(inner))
        return `<p>${inner}</p>\n`
      },
      // Raw HTML is for renderers that we do not control; the docs have none but comments.
      html: ({ text: raw }: Tokens.HTML | Tokens.Tag) => (raw.startsWith('<!--') ? '' : escapeHtml(raw)),
    },
  })

  function addText(more: string): void {
    const last = sections.at(-1)
    if (last !== undefined) last.text += `${more} `
  }

  const html = marked.parse(text, { async: false })
  return { title: sections[0]?.heading ?? file, html, sections, files: [...files], links }
}

/** As GitHub makes them, so that links work in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function unique(name: string, names: Map<string, number>): string {
  const count = names.get(name) ?? 0
  names.set(name, count + 1)
  return count === 0 ? name : `${name}-${count}`
}

function plain(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

function align(side: string | null): string {
  return side === null ? '' : ` class="${side}"`
}

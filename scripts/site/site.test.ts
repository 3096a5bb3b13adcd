import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildSite, type Site } from './build.ts'
import { addressOf } from './pages.ts'
import { render } from './render.ts'

describe('the documentation site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-site-'))
  let site: Site
  before(async () => {
    site = await buildSite(folder)
  })
  after(() => rmSync(folder, { recursive: true }))
  const read = (address: string): string => readFileSync(join(folder, address), 'utf8')

  test('every document is in it once, and every link leads to a section that exists', () => {
    assert.deepEqual(site.problems, [])
  })

  test('what a page refers to is part of the site', () => {
    const missing = site.pages.flatMap(({ address }) => {
      const refers = [...read(address).matchAll(/(?:href|src)="([^"#]+)(?:#[^"]*)?"/g)].map((match) => match[1]!)
      const own = refers.filter((reference) => !/^[a-z]+:/.test(reference))
      return own.filter((path) => !existsSync(join(folder, address, '..', path))).map((path) => `${address}: ${path}`)
    })
    assert.deepEqual(missing, [])
  })

  test('language models get a list of all pages, and all of them in one file', () => {
    const list = read('llms.txt')
    assert.deepEqual(
      site.pages.filter(({ address }) => !list.includes(`(${address})`)),
      [],
    )
    assert.ok(read('llms-full.txt').includes('# Guarantees'))
  })

  test('the search knows the text of sections', () => {
    const entries = JSON.parse(read('search.json')) as string[][]
    const found = entries.filter(([, , , , text]) => text!.includes('fencing token'))
    assert.ok(found.length > 3)
  })
})

const isPage = (file: string): boolean => file === 'docs/api.md'

test('links between documents become links between pages, others lead to the repository', () => {
  const { html } = render(
    'docs/migrate/bullmq.md',
    '[a](../api.md#x) [b](../../examples) [c](https://x.org/) [d](#here)',
    isPage,
  )
  assert.deepEqual(
    [...html.matchAll(/href="([^"]+)"/g)].map((match) => match[1]),
    ['../api.html#x', 'https://github.com/cronce/cronce/tree/main/examples', 'https://x.org/', '#here'],
  )
})

test('markup in a document is shown, not obeyed', () => {
  const { html } = render('docs/api.md', 'a <script>alert(1)</script> b\n\n```html\n<b>x</b>\n```\n', isPage)
  assert.doesNotMatch(html, /<script|<b>/)
})

test('headings with the same text have anchors of their own', () => {
  const { sections } = render('docs/api.md', '# A\n\n## Notes\n\n## Notes\n', isPage)
  assert.deepEqual(
    sections.map(({ anchor }) => anchor),
    ['a', 'notes', 'notes-1'],
  )
})

test('addresses end in html, and an index stands for its folder', () => {
  assert.deepEqual(['README.md', 'docs/api.md', 'docs/migrate/README.md', 'CHANGELOG.md'].map(addressOf), [
    ...['index.html', 'api.html', 'migrate/index.html', 'changelog.html'],
  ])
})

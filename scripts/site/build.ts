import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { addressOf, GROUPS } from './pages.ts'
import { type Rendered, render } from './render.ts'
import { type NavGroup, shell } from './shell.ts'

const ROOT = join(import.meta.dirname, '../..')
const UI = join(import.meta.dirname, 'ui')
const BROWSERS: BuildOptions = {
  bundle: true,
  minify: true,
  target: ['chrome111', 'firefox114', 'safari16.4'],
  logLevel: 'warning',
}
const DESCRIPTION =
  'cronce is a job scheduler for Node.js and TypeScript: every scheduled fire (one due time of a schedule) runs once across all processes, on the database that the app already has.'

export interface Site {
  readonly pages: readonly { readonly file: string; readonly address: string }[]
  /** Links that lead nowhere, files in no group, and others that need repair. */
  readonly problems: readonly string[]
}

/** Writes the whole site into `folder`. */
export async function buildSite(folder: string): Promise<Site> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const groups = GROUPS.map(({ title, pages }) => ({
    title,
    files: pages.flatMap((pattern) => (pattern.includes('*') ? globSync(pattern, { cwd: ROOT }).sort() : [pattern])),
  }))
  const files = groups.flatMap((group) => group.files)
  const known = new Set(files)
  const rendered = new Map(files.map((file) => [file, render(file, read(file), (other) => known.has(other))]))
  const nav: NavGroup[] = groups.map(({ title, files: some }) => ({
    title,
    pages: some.map((file) => ({ file, title: rendered.get(file)!.title })),
  }))
  for (const [file, page] of rendered) write(folder, addressOf(file), shell(file, page, nav))
  for (const asset of new Set([...rendered.values()].flatMap((page) => page.files))) {
    cpSync(join(ROOT, asset), join(folder, asset.replace(/^docs\//, '')))
  }
  await writeParts(folder, rendered, nav)
  return {
    pages: files.map((file) => ({ file, address: addressOf(file) })),
    problems: [...findLost(files), ...findBroken(rendered)],
  }
}

async function writeParts(
  folder: string,
  pages: ReadonlyMap<string, Rendered>,
  nav: readonly NavGroup[],
): Promise<void> {
  const sections = [...pages].flatMap(([file, { title, sections: some }]) =>
    some.map(({ heading, anchor, text }) => [addressOf(file), title, heading, anchor, text.replaceAll(/\s+/g, ' ')]),
  )
  write(folder, 'search.json', JSON.stringify(sections))
  write(folder, 'llms.txt', llmsText(nav))
  write(folder, 'llms-full.txt', [...pages.keys()].map(read).join('\n\n'))
  cpSync(join(UI, 'icon.svg'), join(folder, 'icon.svg'))
  await build({ ...BROWSERS, entryPoints: [join(UI, 'site.css')], outfile: join(folder, 'site.css') })
  await build({
    ...BROWSERS,
    format: 'esm',
    platform: 'browser',
    entryPoints: [join(UI, 'client.ts')],
    outfile: join(folder, 'site.js'),
  })
}

/** For language models: https://llmstxt.org. */
function llmsText(nav: readonly NavGroup[]): string {
  const groups = nav.map(({ title, pages }) =>
    [`## ${title}`, '', ...pages.map(({ file, title: name }) => `- [${name}](${addressOf(file)})`)].join('\n'),
  )
  return `# cronce\n\n> ${DESCRIPTION}\n\nAll pages in one file: [llms-full.txt](llms-full.txt)\n\n${groups.join('\n\n')}\n`
}

function findLost(files: readonly string[]): readonly string[] {
  const twice = files.filter((file, index) => files.indexOf(file) !== index)
  const lost = globSync('docs/**/*.md', { cwd: ROOT }).filter((file) => !files.includes(file))
  return [
    ...twice.map((file) => `${file} is in two groups`),
    ...lost.map((file) => `${file} is in no group of pages.ts`),
  ]
}

function findBroken(pages: ReadonlyMap<string, Rendered>): readonly string[] {
  return [...pages].flatMap(([file, { links }]) =>
    links
      .filter(
        ({ file: target, anchor }) =>
          anchor !== '' && !pages.get(target)!.sections.some((one) => one.anchor === anchor),
      )
      .map(({ file: target, anchor }) => `${file}: ${target} has no section #${anchor}`),
  )
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function write(folder: string, address: string, text: string): void {
  const path = join(folder, address)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

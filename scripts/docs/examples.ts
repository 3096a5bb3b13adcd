/**
 * Pages show examples as the files are: a block whose info string names a file below examples has the text of that file.
 * `node scripts/docs/examples.ts` writes them; the check of the docs compares.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const BLOCK = /^(```\w+ (examples\/\S+)\n)[\s\S]*?^```$/gm

/** The page with each example as its file is now. */
export function withExamples(page: string, read: (file: string) => string): string {
  return page.replaceAll(BLOCK, (_block, opening: string, file: string) => `${opening}${read(file).trimEnd()}\n\`\`\``)
}

/** Its info string names a file, which is compiled where it is. */
export function isExample(info: string): boolean {
  return info.trim().startsWith('examples/')
}

/** Files below folders of examples that a page shows. */
export function examplesIn(page: string): string[] {
  return [...page.matchAll(BLOCK)].map(([, , file]) => file!)
}

if (import.meta.main) {
  for (const file of globSync('docs/**/*.md', { cwd: ROOT })) {
    const page = readFileSync(resolve(ROOT, file), 'utf8')
    const made = withExamples(page, (example) => readFileSync(resolve(ROOT, example), 'utf8'))
    if (made === page) continue
    writeFileSync(resolve(ROOT, file), made)
    console.log(`${file} was written`)
  }
}

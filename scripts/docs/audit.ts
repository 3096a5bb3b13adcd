/** Writes the table of rules into docs/audit.md, and a page per rule into docs/audit, from the rules themselves. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { REPAIRS } from '../../packages/audit/src/fix/fix.ts'
import type { Example, Rule } from '../../packages/audit/src/rules/rule.ts'
import { RULES } from '../../packages/audit/src/rules/rules.ts'

const FILE = resolve(import.meta.dirname, '../../docs/audit.md')
export const PAGES = resolve(import.meta.dirname, '../../docs/audit')
const BEGIN = '<!-- rules: written by scripts/docs/audit.ts -->'

/** docs/audit.md with the rules as they are now. */
export function withRules(text: string, rules: readonly Rule[] = RULES): string {
  const at = text.indexOf(BEGIN)
  if (at === -1) throw new Error(`docs/audit.md has no line ${BEGIN}`)
  const rows = sorted(rules).map(
    ({ id, level, title }) =>
      `| [${id}](audit/${id.toLowerCase()}.md) | ${level} | ${title} | ${REPAIRS[id] === undefined ? '' : 'yes'} |`,
  )
  return `${text.slice(0, at)}${BEGIN}

| rule | level | finding | \`--fix\` |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}

/** File name to text. */
export function pages(rules: readonly Rule[] = RULES): ReadonlyMap<string, string> {
  return new Map(sorted(rules).map((rule) => [`${rule.id.toLowerCase()}.md`, page(rule)]))
}

function sorted(rules: readonly Rule[]): Rule[] {
  return rules.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function page({ id, title, why, fix, bad, good, level }: Rule): string {
  const repair =
    REPAIRS[id] === undefined
      ? ''
      : '\n`cronce audit --fix` repairs it where the form is one that it knows for certain.\n'
  return `# ${id}: ${title}

Level: ${level}. All rules: [cronce audit](../audit.md#rules).

${why}

**Fix.** ${fix}
${repair}
## Reported

${example(bad)}
## Not reported

${example(good)}`
}

function example(files: Example): string {
  return Object.entries(files)
    .map(([path, text]) => `\`\`\`text\n# ${path}\n${text.trimEnd()}\n\`\`\`\n`)
    .join('\n')
}

if (import.meta.main) {
  writeFileSync(FILE, withRules(readFileSync(FILE, 'utf8')))
  const now = pages()
  for (const name of readdirSync(PAGES)) if (!now.has(name)) rmSync(join(PAGES, name))
  for (const [name, text] of now) writeFileSync(join(PAGES, name), text)
  console.log(`docs/audit.md and ${now.size} pages were written`)
}

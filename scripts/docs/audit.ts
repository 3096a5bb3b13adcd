/** Writes the table of rules and their pages into docs/audit.md, from the rules themselves. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Example, Rule } from '../../packages/audit/src/rules/rule.ts'
import { RULES } from '../../packages/audit/src/rules/rules.ts'

const FILE = resolve(import.meta.dirname, '../../docs/audit.md')
const BEGIN = '<!-- rules: written by scripts/docs/audit.ts -->'

/** docs/audit.md with the rules as they are now. */
export function withRules(text: string, rules: readonly Rule[] = RULES): string {
  const at = text.indexOf(BEGIN)
  if (at === -1) throw new Error(`docs/audit.md has no line ${BEGIN}`)
  const sorted = rules.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const table = sorted.map(({ id, level, title }) => `| [${id}](#${id.toLowerCase()}) | ${level} | ${title} |`)
  return `${text.slice(0, at)}${BEGIN}

| rule | level | finding |
| --- | --- | --- |
${table.join('\n')}

${sorted.map(page).join('\n')}`
}

function page({ id, title, why, fix, bad, good, level }: Rule): string {
  return `### ${id}

**${title[0]!.toUpperCase()}${title.slice(1)}** (${level}). ${why}
Fix: ${fix}

Reported:

${example(bad)}
Not reported:

${example(good)}`
}

function example(files: Example): string {
  return Object.entries(files)
    .map(([path, text]) => `\`\`\`text\n# ${path}\n${text.trimEnd()}\n\`\`\`\n`)
    .join('\n')
}

if (import.meta.main) {
  writeFileSync(FILE, withRules(readFileSync(FILE, 'utf8')))
  console.log('docs/audit.md was written')
}

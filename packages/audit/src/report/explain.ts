import type { Example, Rule } from '../rules/rule.ts'
import { helpOf } from './report.ts'

export function explain({ id, level, title, why, fix, bad, good }: Rule): string {
  return [
    `${id} (${level}): ${title}`,
    '',
    why,
    fix,
    '',
    'Reported:',
    example(bad),
    'Not reported:',
    example(good),
    helpOf(id),
    '',
  ].join('\n')
}

function example(files: Example): string {
  return Object.entries(files)
    .map(
      ([path, text]) =>
        `  ${path}\n${text
          .trimEnd()
          .split('\n')
          .map((line) => `    ${line}`.trimEnd())
          .join('\n')}\n`,
    )
    .join('\n')
}

export function listRules(rules: readonly Rule[]): string {
  return `${rules.map(({ id, level, title }) => `${id}  ${level.padEnd(7)}  ${title}`).join('\n')}\n`
}

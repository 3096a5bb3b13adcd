import type { Plan } from './make-plan.ts'
import {
  countWords,
  crowdWords,
  fireWords,
  hasOtherTimes,
  kindWords,
  loadWords,
  nextRows,
  spreadWords,
} from './plan-words.ts'
import type { PlannedChange } from './planned-change.ts'

/** A summary for a pull request. */
export function markdownOf(plan: Plan): string {
  const { app, changes, remarks } = plan
  const lines = [`### cronce plan: ${code(app)}`, '', `${countWords(plan)}.`]
  if (remarks.length > 0) {
    lines.push('', '| | to look at |', '| --- | --- |')
    for (const remark of remarks) {
      const words = `${cell(remark.message)} ${cell(remark.hint)} (${remark.code})`
      lines.push(`| ${remark.level === 'risk' ? '**risk**' : 'note'} | ${words} |`)
    }
  }
  if (changes.length > 0) {
    lines.push('', '| schedule | what happens | due times |', '| --- | --- | --- |')
    for (const change of changes) {
      const differences = change.differences.map(({ what, before, after }) => `${what}: ${before} → ${after}`)
      const what = [kindWords(change, plan), ...differences, ...change.clockChanges].map(cell).join('<br>')
      lines.push(`| ${code(change.name)} | ${what} | ${cell(fireWords(change) ?? '')} |`)
    }
    for (const change of changes.filter(hasOtherTimes)) lines.push('', ...nextTable(change))
    const load = [...loadWords(plan), ...crowdWords(plan)]
    const spread = crowdWords(plan).length > 0 ? spreadWords(plan).map((line) => `spread ${line}`) : []
    lines.push('', '<details><summary>Load of the coming week</summary>', '')
    lines.push(...[...load, ...spread].map((line) => `- ${text(line)}`), '', '</details>')
  }
  return `${lines.join('\n')}\n`
}

function nextTable(change: PlannedChange): readonly string[] {
  const rows = nextRows(change).map(([was, is]) => `| ${was} | ${is} |`)
  return [
    ...[
      `<details><summary>Next due times of ${text(change.name)}</summary>`,
      '',
      '| before | after |',
      '| --- | --- |',
    ],
    ...[...rows, '', '</details>'],
  ]
}

/** A name must not become markup, nor mention anyone. */
function text(words: string): string {
  return words.replace(/[\\`*_{}[\]<>#|~@]/g, '\\$&').replace(/\s+/g, ' ')
}

function cell(words: string): string {
  return text(words)
}

function code(words: string): string {
  return `\`${words.replaceAll('`', "'").replaceAll('|', '\\|').replace(/\s+/g, ' ')}\``
}

import type { FileTree } from '../discover/tree.ts'
import type { Finding } from '../rules/rule.ts'

/** Text that replaces what stands from `start` to `end`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The file as it is when the repair is asked, and the tree that holds it. */
export interface Broken {
  readonly path: string
  readonly text: string
  readonly finding: Finding
  readonly tree: FileTree
}

/** The edits that remove a finding. `null`: this form cannot be repaired with certainty. */
export type Repair = (broken: Broken) => readonly Edit[] | null

export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end), text)
}

/** A line with its offset, without its line break. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

export function lineAt(text: string, number: number): Line {
  let start = 0
  for (let line = 1; line < number; line++) {
    const next = text.indexOf('\n', start)
    if (next === -1) break
    start = next + 1
  }
  const found = text.indexOf('\n', start)
  const end = found === -1 ? text.length : found
  return { start, end: text[end - 1] === '\r' ? end - 1 : end, text: text.slice(start, end).replace(/\r$/, '') }
}

export function indentOf(line: string): string {
  return /^\s*/.exec(line)![0]
}

export function breakOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

export function replaceInLine(line: Line, pattern: RegExp, by: string): readonly Edit[] | null {
  const text = line.text.replace(pattern, by)
  return text === line.text ? null : [{ start: line.start, end: line.end, text }]
}

export function insertAfter(text: string, line: Line, added: string): readonly Edit[] {
  return [{ start: line.end, end: line.end, text: `${breakOf(text)}${added}` }]
}

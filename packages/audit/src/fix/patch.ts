/** A file before and after. */
export interface Change {
  readonly path: string
  readonly before: string
  readonly after: string
}

const CONTEXT = 3

/** A unified patch, as `git apply` and `patch -p1` read it. */
export function patchOf(changes: readonly Change[]): string {
  return changes.map(filePatch).join('')
}

interface Step {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

function filePatch({ path, before, after }: Change): string {
  const steps = stepsOf(linesOf(before), linesOf(after))
  const hunks = hunksOf(steps).map((hunk) => hunkText(steps, hunk))
  return `--- a/${path}\n+++ b/${path}\n${hunks.join('')}`
}

/** Each line with its break, so that a missing one at the end shows. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Edits are few and small: what is equal before and after them is left out of the comparison. */
function stepsOf(before: readonly string[], after: readonly string[]): readonly Step[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const rest = Math.min(before.length, after.length) - head
  while (tail < rest && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const kept = (text: string): Step => ({ sign: ' ', text })
  return [
    ...before.slice(0, head).map(kept),
    ...middleSteps(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(kept),
  ]
}

/** A greedy walk: after a difference, both sides go on at the nearest line that they share. */
function middleSteps(before: readonly string[], after: readonly string[]): readonly Step[] {
  const steps: Step[] = []
  const next = new Map<string, number[]>()
  for (const [index, text] of after.entries()) next.set(text, [...(next.get(text) ?? []), index])
  let to = 0
  for (const text of before) {
    const found = next.get(text)?.find((index) => index >= to) ?? -1
    // A line that returns only far below is a line that was removed.
    if (found === -1 || found - to > 20) {
      steps.push({ sign: '-', text })
      continue
    }
    for (; to < found; to++) steps.push({ sign: '+', text: after[to]! })
    steps.push({ sign: ' ', text })
    to++
  }
  for (; to < after.length; to++) steps.push({ sign: '+', text: after[to]! })
  return steps
}

interface Hunk {
  readonly from: number
  readonly to: number
}

function hunksOf(steps: readonly Step[]): readonly Hunk[] {
  const hunks: { from: number; to: number }[] = []
  for (const [index, { sign }] of steps.entries()) {
    if (sign === ' ') continue
    const last = hunks.at(-1)
    if (last !== undefined && index - CONTEXT <= last.to) last.to = index + CONTEXT + 1
    else hunks.push({ from: Math.max(0, index - CONTEXT), to: index + CONTEXT + 1 })
  }
  return hunks.map(({ from, to }) => ({ from, to: Math.min(to, steps.length) }))
}

function hunkText(steps: readonly Step[], { from, to }: Hunk): string {
  const count = (list: readonly Step[], without: '-' | '+'): number =>
    list.filter(({ sign }) => sign !== without).length
  const above = steps.slice(0, from)
  const here = steps.slice(from, to)
  const range = (without: '-' | '+'): string => {
    const length = count(here, without)
    return `${count(above, without) + (length === 0 ? 0 : 1)},${length}`
  }
  const lines = here.map(({ sign, text }) =>
    text.endsWith('\n') ? sign + text : `${sign}${text}\n\\ No newline at end of file\n`,
  )
  return `@@ -${range('+')} +${range('-')} @@\n${lines.join('')}`
}

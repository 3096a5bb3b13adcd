import { fileURLToPath } from 'node:url'

/** Of this program, or of Node itself: nothing that the author of a jobs file could put right. */
const OURS = /^\s+at .*(?:\(|async | at )?(?:node:|.*\/(?:@cronce\/cli|packages\/cli)\/(?:dist|src)\/)/
const LONGEST = 20

/** Errors inside errors that are shown. */
const MOST_INNER = 5

/** The stack of what a user's file threw, without the lines that are not the user's, and those of its inner errors. */
export function trimStack(error: unknown): string {
  const all = [error]
  for (const one of all) {
    if (all.length <= MOST_INNER) all.push(...innerErrors(one).slice(0, MOST_INNER + 1 - all.length))
  }
  return all.map((one, index) => `${index === 0 ? '' : 'caused by: '}${stackOf(one)}`).join('\n')
}

function innerErrors(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return []
  return [...(error instanceof AggregateError ? error.errors : []), ...(error.cause === undefined ? [] : [error.cause])]
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A syntax error says where it is in the lines before its message, which is where Node puts them.
  const lines = (error.stack || String(error)).split('\n').filter((line) => !OURS.test(line))
  const shown = lines.slice(0, LONGEST).map((line) => line.replace(/file:\/\/[^\s:)]+/g, readable))
  return shown.join('\n').trimEnd()
}

function readable(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}

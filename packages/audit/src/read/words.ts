const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^\s"'\\]+)|(\s+)/g
const MAX_LENGTH = 20_000

/** The words of a shell command, without quotes. Nothing is expanded. */
export function shellWords(text: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  for (const [, double, single, escaped, plain, space] of text.slice(0, MAX_LENGTH).matchAll(WORD)) {
    if (space !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + (double ?? single ?? escaped ?? plain ?? '')
  }
  return word === null ? words : [...words, word]
}

const SHELLS = /(?:^|\/)(?:ba|da|a|z)?sh$/

/** The words of an exec form. The script of `sh -c` is split into its words. */
export function commandWords(parts: readonly string[]): readonly string[] {
  if (parts.length === 1) return shellWords(parts[0]!)
  const script = SHELLS.test(parts[0] ?? '') ? parts.findIndex((part) => /^-\w*c$/.test(part)) : -1
  if (script < 0) return parts
  return parts.slice(script + 1).flatMap(shellWords)
}

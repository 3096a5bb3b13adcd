/** A text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** The words of a command that consists of nothing but words; `null`: the shell would do more with it. */
export function shellWords(text: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  for (let at = 0; at < text.length; ) {
    const part = PART.exec(text.slice(at))
    if (part === null) return null
    const [whole, blank, single, double, escaped, plain] = part
    at += whole.length
    if (blank !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain)
  }
  return word === null ? words : [...words, word]
}

const PART = /^(?:([ \t]+)|'([^']*)'|"((?:[^"\\$`]|\\["\\$`])*)"|\\([^\n])|([^\s'"\\$`|&;<>(){}*?[\]#~!]+))/

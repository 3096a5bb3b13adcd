/** `1 run`, `2 runs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** `a job`, `an election`, `a URL`, `an hour`. */
export function withArticle(noun: string): string {
  // By sound: "u" as in "unit" and "one" begin with a consonant, "hour" with a vowel.
  const isVowel = /^(?:[aeio]|u(?!ni|[rst]|u|int)|hour)/i.test(noun) && !/^one/i.test(noun)
  return `${isVowel ? 'an' : 'a'} ${noun}`
}

/** What was given instead of what was wanted, by its type: `null`, `undefined`, `an array`, `an object`, `a number`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return withArticle(Array.isArray(value) ? 'array' : typeof value)
}

/** A name as one word of a command line: quoted where a shell would split or expand it. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", `'\\''`)}'` : `"${text}"`
}

/** The first key that an object of a JSON text has twice, with its line; JSON.parse keeps the last one without a word. */
export function repeatedKey(text: string): { readonly key: string; readonly line: number } | null {
  /** The keys of each object around the current place; `null` for a list. */
  const around: (Set<string> | null)[] = []
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    const [token, colon] = match
    if (token === '{') around.push(new Set())
    else if (token === '[') around.push(null)
    else if (token === '}' || token === ']') around.pop()
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string
      const keys = around.at(-1)
      if (keys?.has(key)) return { key, line: text.slice(0, match.index).split('\n').length }
      keys?.add(key)
    }
  }
  return null
}

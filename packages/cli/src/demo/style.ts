/** Colors, if the output is a terminal. */
export type Style = (name: StyleName, text: string) => string

export type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta' | 'blue'

const CODES: Record<StyleName, number> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
}

export function createStyle(isOn: boolean): Style {
  return (name, text) => (isOn && text !== '' ? `\x1b[${CODES[name]}m${text}\x1b[0m` : text)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are made of
const ESCAPES = /\x1b\[[0-9;?]*[a-zA-Z]/g

/** In columns, for texts of single-width characters. */
export function widthOf(text: string): number {
  return text.replace(ESCAPES, '').length
}

/** Exactly so wide: filled up, or cut (which loses the colours). */
export function fit(text: string, width: number): string {
  const own = widthOf(text)
  if (own <= width) return text + ' '.repeat(width - own)
  return `${text.replace(ESCAPES, '').slice(0, Math.max(0, width - 1))}…`
}

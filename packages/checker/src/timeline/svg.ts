/** A piece of SVG that is well-formed by itself. */
export type Svg = string

export type Attributes = Readonly<Record<string, string | number>>

export function element(name: string, attributes: Attributes, ...children: readonly Svg[]): Svg {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(write(value))}"`)
  const open = `<${name}${written.join('')}`
  return children.length === 0 ? `${open}/>` : `${open}>${children.join('')}</${name}>`
}

export function text(attributes: Attributes, words: string): Svg {
  return element('text', attributes, escapeText(words))
}

/** What is shown on hovering over the element that it is in. */
export function title(words: string): Svg {
  return element('title', {}, escapeText(words))
}

/** Names come from outside. Control characters have no place in XML, not even escaped. */
export function escapeText(words: string): string {
  return words
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
}

function write(value: string | number): string {
  return typeof value === 'string' ? value : String(Math.round(value * 10) / 10)
}

/** Approximate: fonts differ and cannot be measured here. Rather too wide than too narrow. */
export function widthOf(words: string, fontSize: number): number {
  return words.length * fontSize * 0.6
}

/** As much of it as fits. */
export function fit(words: string, width: number, fontSize: number): string {
  const most = Math.floor(width / (fontSize * 0.6))
  if (words.length <= most) return words
  return most < 3 ? '' : `${words.slice(0, most - 1)}…`
}

/** Words in lines. A word that is longer than a line is cut. */
export function wrap(words: string, width: number, fontSize: number): string[] {
  const most = Math.floor(width / (fontSize * 0.6))
  const lines = ['']
  for (const word of words.split(/\s+/)) {
    const last = lines.at(-1)!
    if (last === '') lines[lines.length - 1] = word.slice(0, most)
    else if (last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word.slice(0, most))
  }
  return lines
}

/** Puts spans into as few rows as possible without touching; the rest, if there are too many, into the row that is free first. */
export function packRows(spans: readonly { readonly from: number; readonly to: number }[], most: number): number[] {
  const ends: number[] = []
  return spans.map(({ from, to }) => {
    const free = ends.findIndex((end) => end <= from)
    const row = free >= 0 ? free : ends.length < most ? ends.length : ends.indexOf(Math.min(...ends))
    ends[row] = Math.max(to, ends[row] ?? to)
    return row
  })
}

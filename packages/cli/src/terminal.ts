/** Text for a terminal: colour, width, and characters that would do something to it rather than be seen. */

export type Color = 'bold' | 'dim' | 'red' | 'yellow' | 'cyan' | 'green'
export type Paint = (color: Color, text: string) => string

const CODES: Readonly<Record<Color, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  green: [32, 39],
}

export interface ColorQuestion {
  readonly isTTY: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** `--no-color` */
  readonly refused: boolean
}

export function painter(question: ColorQuestion): Paint {
  if (!wantsColor(question)) return (_, text) => text
  return (color, text) => `\x1b[${CODES[color][0]}m${text}\x1b[${CODES[color][1]}m`
}

/** The flag beats FORCE_COLOR, which beats NO_COLOR, as in Node itself. */
function wantsColor({ isTTY, env, refused }: ColorQuestion): boolean {
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: term } = env
  if (refused) return false
  if (force !== undefined) return force !== '0' && force !== 'false'
  return isTTY && !none && term !== 'dumb'
}

const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}])/u

/** Seen as it is, one column a character: almost everything, and a list may have thousands of cells. */
const PLAIN = /^[ -~]*$/
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** One character as a reader sees it, where it is in the text, and what to print for it. */
export interface Glyph {
  readonly index: number
  readonly shown: string
  readonly width: number
}

export function glyphs(text: string): Glyph[] {
  return Array.from(SEGMENTER.segment(text), ({ segment, index }) => {
    const shown = printable(segment)
    return { index, shown, width: shown === segment ? widthOf(segment) : shown.length }
  })
}

/** What came from outside, without the power to move the cursor or to hide. */
export function sanitize(text: string): string {
  if (PLAIN.test(text)) return text
  return glyphs(text)
    .map(({ shown }) => shown)
    .join('')
}

/** How many columns it takes. */
export function columnsOf(text: string): number {
  return PLAIN.test(text) ? text.length : glyphs(text).reduce((sum, { width }) => sum + width, 0)
}

function printable(segment: string): string {
  if (segment === '\t') return ' '
  if (!INVISIBLE.test(segment)) return segment
  return Array.from(segment, (char) => `<U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`).join(
    '',
  )
}

function widthOf(segment: string): number {
  if (/^\p{M}/u.test(segment)) return 0
  return WIDE.test(segment) || segment.includes('\ufe0f') ? 2 : 1
}

/** Break at blanks so that no line is longer than `width`, later lines indented. */
export function wrap(text: string, width: number, indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const room = width - indent.length
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join(`\n${indent}`)
}

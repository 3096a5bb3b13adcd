import type { Buffer } from 'node:buffer'

type Encoding = 'utf8' | 'utf8-bom' | 'utf16le' | 'utf16be'

/** The encoding by the mark at the beginning of a file. */
function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf8-bom' : 'utf8'
}

/** Source code can hold a zero in a string; a binary file holds many. */
const CHARACTERS_PER_ZERO = 500

/** The text of a file without its mark; `null`: the file is not text. */
export function decode(bytes: Buffer): string | null {
  const text = textOf(bytes, encodingOf(bytes))
  let zeros = 0
  for (let at = text.indexOf('\0'); at !== -1; at = text.indexOf('\0', at + 1)) {
    if (++zeros * CHARACTERS_PER_ZERO > text.length) return null
  }
  return text
}

function textOf(bytes: Buffer, encoding: Encoding): string {
  switch (encoding) {
    case 'utf8':
      return bytes.toString('utf8')
    case 'utf8-bom':
      return bytes.toString('utf8', 3)
    case 'utf16le':
      return bytes.toString('utf16le', 2)
    case 'utf16be':
      return swapped(bytes).toString('utf16le', 2)
  }
}

function swapped(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length - (bytes.length % 2)).swap16()
}

/** Changed text in the encoding of the file that it replaces. */
export function encodeLike(original: Buffer, text: string): Buffer | string {
  const encoding = encodingOf(original)
  if (encoding === 'utf8') return text
  if (encoding === 'utf8-bom') return `\uFEFF${text}`
  const bytes = globalThis.Buffer.from(`\uFEFF${text}`, 'utf16le')
  return encoding === 'utf16le' ? bytes : bytes.swap16()
}

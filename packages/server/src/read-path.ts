import { nameOfPart } from 'cronce/signature'
import { refuse } from './answer.ts'

/** The parts of a path that stand for names, by the template of the route. */
export function readParts(template: string, path: string): Parts {
  const written = path.split('/')
  const segments = template.split('/')
  return (name) => decode(written[segments.indexOf(`:${name}`)] ?? '', 'path', nameOfPart)
}

/** Refuses what is not percent-encoded text. */
export type Parts = (name: string) => string

/** The fields of a query, each at most once; bytes that are no text are refused rather than replaced. */
export function readQuery(url: string): ReadonlyMap<string, string> {
  const [address] = url.split('#', 1)
  const start = address!.indexOf('?')
  const fields = new Map<string, string>()
  if (start < 0) return fields
  for (const field of address!.slice(start + 1).split('&')) {
    if (field === '') continue
    const at = field.indexOf('=')
    const name = decode((at < 0 ? field : field.slice(0, at)).replaceAll('+', ' '), 'query')
    const value = decode((at < 0 ? '' : field.slice(at + 1)).replaceAll('+', ' '), 'query')
    if (fields.has(name)) {
      throw refuse('OPTION_INVALID', `The query gives ${JSON.stringify(name.slice(0, 60))} twice.`, 'Give it once.')
    }
    fields.set(name, value)
  }
  return fields
}

function decode(text: string, where: string, read: (text: string) => string = decodeURIComponent): string {
  try {
    return read(text)
  } catch {
    const shown = JSON.stringify(text.slice(0, 60))
    const hint = 'Percent-encode names as UTF-8, as encodeURIComponent does.'
    throw refuse('PATH_INVALID', `The ${where} contains ${shown}, which is not percent-encoded text.`, hint)
  }
}

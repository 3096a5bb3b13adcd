import { type Imported, type ImportedJob, jobsOf } from './imported.ts'

export type JobsFormat = 'ts' | 'json'

export function renderJobs(imported: Imported, format: JobsFormat): string {
  return format === 'ts' ? renderTs(imported) : renderJson(imported)
}

/** A module whose default export is the record, with all comments where they were. */
function renderTs({ items }: Imported): string {
  const lines: string[] = []
  for (const item of items) {
    const comments = item.kind === 'job' ? item.job.comments : item.lines
    // Blank lines around comments, so that it is seen to what they belong.
    if (lines.length > 0 && lines.at(-1) !== '' && comments.length > 0) lines.push('')
    lines.push(...comments.map((text) => `  // ${harmless(text)}`.trimEnd()))
    lines.push(...(item.kind === 'job' ? jobLines(item.job) : ['']))
  }
  if (lines.at(-1) === '') lines.pop()
  return ['export default {', ...lines, '}', ''].join('\n')
}

function jobLines({ name, options }: ImportedJob): string[] {
  const fields = Object.entries(options).map(([key, value]) => `    ${key}: ${literal(value, '    ')},`)
  return [`  ${quoteKey(name)}: {`, ...fields, '  },']
}

function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map((element) => literal(element, indent)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value)
  const fields = entries.map(([key, inner]) => `${quoteKey(key)}: ${literal(inner, `${indent}  `)}`)
  const short = `{ ${fields.join(', ')} }`
  if (short.length <= 80) return short
  return `{\n${fields.map((field) => `${indent}  ${field},`).join('\n')}\n${indent}}`
}

/** In the quotes that need the fewest escapes. */
function quote(text: string): string {
  const json = JSON.stringify(text).replace(/[\u2028\u2029\u007f-\u009f]/g, escaped)
  if (text.includes("'") && !text.includes('"')) return json
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function quoteKey(key: string): string {
  // In a literal this key alone would mean something else.
  if (key === '__proto__') return "['__proto__']"
  return /^[A-Za-z_]\w*$/.test(key) ? key : quote(key)
}

/** A comment ends at whatever ends a line in JavaScript. */
function harmless(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]/g, ' ')
}

/** JSON has no comments, so they are under a key that `cronce start` leaves out. */
function renderJson(imported: Imported): string {
  const loose = imported.items.flatMap((item) => (item.kind === 'comment' ? [...item.lines] : []))
  const jobs = jobsOf(imported).map(({ name, comments, options }) => [
    name,
    { ...(comments.length === 0 ? {} : { $comment: comments }), ...options },
  ])
  const record = { ...(loose.length === 0 ? {} : { $comment: loose }), ...Object.fromEntries(jobs) }
  return `${JSON.stringify(record, null, 2)}\n`
}

/** What the docs claim, taken from their text. */
import { isExample } from './examples.ts'

export interface Block {
  /** A name for the file that it is compiled as. */
  readonly name: string
  /** Where it stands, for people. */
  readonly place: string
  readonly code: string
  /** Marked `run`: executed, and its output compared with what the block shows. */
  readonly runs: boolean
}

/** What fragments in the reference speak of, so that they need not declare it again and again. */
const PRELUDE = `import type { DatabaseSync } from 'node:sqlite'
import { type Connection, connect, type Cronce, type CronceEvent, cronce, type Run } from 'cronce'
import { memory } from 'cronce/memory'
import { sqlite } from 'cronce/sqlite'
declare const app: Cronce<DatabaseSync>
declare const client: Connection
declare const run: Run
declare const db: DatabaseSync
declare function charge(invoice: unknown, key: string): Promise<string>
declare function unpaid(): Promise<{ id: string }[]>
declare function page(text: string): Promise<void>
declare function reindex(options: { signal: AbortSignal; token: bigint }): Promise<void>
declare function warm(signal: AbortSignal): Promise<void>
declare function send(text: string): Promise<string>
`

/** Blocks of TypeScript. One without imports of its own is a fragment, and speaks of what the prelude declares. */
export function blocksOf(file: string, text: string): Block[] {
  const blocks = [...text.matchAll(/^```ts([^\n]*)\n([\s\S]*?)^```/gm)]
  return blocks
    .map(([, info = '', code = ''], index) => ({
      info,
      name: `${file.replace(/\W+/g, '-')}-${index + 1}.ts`,
      place: `${file}, block ${index + 1}`,
      code: /^import /m.test(code) ? code : `${PRELUDE};{\n${code}}\n`,
      runs: info.split(' ').includes('run'),
    }))
    .filter(({ info }) => !isExample(info))
}

export interface Expected {
  readonly lines: readonly string[]
  readonly inOrder: boolean
  readonly ends: 'by-itself' | 'by-sigterm' | 'when-told'
}

/** An example lists its output at its end; a block has it in a comment behind an arrow, at the line that prints it. */
export function expectedOf(code: string): Expected {
  const [, how = '', text = ''] = /\/\* prints(.*)\n([\s\S]*?)\*\//.exec(code) ?? []
  const arrows = [...code.matchAll(/\/\/ → (.+)$/gm)].map((match) => match[1]!)
  return {
    lines: text === '' ? arrows : text.trimEnd().split('\n'),
    inOrder: !how.includes('in any order'),
    ends: how.includes('SIGTERM') ? 'by-sigterm' : /goes on for ever/.test(code) ? 'when-told' : 'by-itself',
  }
}

/** `null`: the output matches. */
export function judge(
  { lines, inOrder, ends }: Expected,
  { output, code, signal }: { readonly output: string; readonly code: number | null; readonly signal: string | null },
): string | null {
  const ended = ends === 'by-itself' ? code === 0 : signal === 'SIGTERM'
  if (!ended) return `it ended with ${signal ?? code} and printed\n${output}`
  const printed = output.split('\n').map((line) => line.trim())
  let from = 0
  for (const line of lines) {
    const at = printed.indexOf(line.trim(), inOrder ? from : 0)
    if (at < 0) return `it did not print\n${line}\nbut\n${output}`
    from = at + 1
  }
  return null
}

/** A relative link: an empty `file` is the page itself. */
export interface Link {
  readonly file: string
  readonly anchor: string | undefined
}

export function linksOf(text: string): Link[] {
  const found = [...withoutCode(text).matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)]
  return found.map(([, file, anchor]) => ({ file: file!, anchor }))
}

/** What a link can name in a page: its headings, as GitHub turns them into anchors. */
export function anchorsOf(text: string): Set<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, '')
}

/** Names in the first column of the tables in a chapter. */
export function tableNames(text: string, heading: string, shape: RegExp): Set<string> {
  const [, chapter = ''] = new RegExp(`^## ${heading}$([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(text) ?? []
  const cells = [...chapter.matchAll(/^\| ([^|]+) \|/gm)].map((match) => match[1]!)
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!))
  return new Set(names.filter((name) => shape.test(name)))
}

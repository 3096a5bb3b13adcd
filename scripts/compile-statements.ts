import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * SQL and Lua are written in files of their own and compiled into one module for each store, so that a built package needs no files
 * beside its code. A file is one text, named after the file; text behind `-- name: x` is a statement of that name.
 */
export interface Target {
  /** Where the files are. */
  readonly from: string
  readonly extension: string
  /** The module that is written. */
  readonly to: string
  /** What the module exports. */
  readonly constant: string
  /** File names without extension, in the order in which they depend on each other. Others follow by name. */
  readonly first?: readonly string[]
}

const STORES = '../packages/cronce/src/store/'

export const TARGETS: readonly Target[] = [
  {
    from: `${STORES}postgres/sql/`,
    extension: '.sql',
    to: `${STORES}postgres/statements.ts`,
    constant: 'SQL',
    first: ['tables', 'records', 'schedules', 'apply', 'plain', 'instances', 'prune'],
  },
]

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}

/** The text of the module. `change`: what a file is taken for, by its name. */
export function compile(
  { from, extension, constant, first = [] }: Target,
  change: (name: string, text: string) => string = (_, text) => text,
): string {
  const found = readdirSync(path(from))
    .filter((name) => name.endsWith(extension))
    .map((name) => name.slice(0, -extension.length))
  const names = [...first, ...found.filter((name) => !first.includes(name)).sort()]
  const read = (file: string): string => withoutComments(change(file, readFileSync(path(`${from}${file}`), 'utf8')))
  const entries = names.flatMap((name) => textsOf(name, read(`${name}${extension}`)))
  const lines = entries.map(([name, text]) => `  ${name}: ${literal(text)},\n`)
  return `// Written by scripts/compile-statements.ts. Change the files it names, then run it again.\n\nexport const ${constant} = {\n${lines.join('')}} as const\n`
}

/** Comments are for readers of the files: the module is published. */
function withoutComments(text: string): string {
  return text.replaceAll(/^ *--(?! name: ).*\n/gm, '')
}

function textsOf(file: string, text: string): (readonly [name: string, text: string])[] {
  const [head, ...statements] = text.split(/^-- name: /m)
  const named = statements.map((part) => {
    const end = part.indexOf('\n')
    return [part.slice(0, end).trim(), part.slice(end + 1).trim()] as const
  })
  return head!.trim() === '' ? named : [[file, head!.trim()], ...named]
}

function literal(text: string): string {
  return `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const target of TARGETS) writeFileSync(path(target.to), compile(target))
}

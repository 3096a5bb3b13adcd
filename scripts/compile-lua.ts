import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const STORE = fileURLToPath(new URL('../packages/cronce/src/store/redis', import.meta.url))
export const MODULE = join(STORE, 'scripts.ts')

/** `-- part: name` begins a part that scripts share, `-- script: name` a script, whose `-- uses:` names the parts it begins with. */
interface Piece {
  readonly kind: 'part' | 'script'
  readonly name: string
  readonly uses: readonly string[]
  readonly lua: string
}

function piecesOf(text: string): Piece[] {
  return text.split(/^(?=-- (?:part|script): )/m).flatMap((piece) => {
    const [, kind, name] = /^-- (part|script): (\w+)\n/.exec(piece) ?? []
    if (kind === undefined || name === undefined) return []
    const [, uses = ''] = /^-- uses: (.*)$/m.exec(piece) ?? []
    return [{ kind: kind as Piece['kind'], name, uses: uses.split(' ').filter(Boolean), lua: withoutComments(piece) }]
  })
}

function withoutComments(lua: string): string {
  return lua
    .split('\n')
    .filter((line) => !/^\s*(?:--.*)?$/.test(line))
    .map((line) => line.trimStart())
    .join('\n')
}

const constant = (name: string): string => name.toUpperCase()
/** As the formatter wants it: in whichever quotes need fewer escapes. */
const quoted = (text: string): string => {
  const escaped = JSON.stringify(text)
  const single = `'${escaped.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  return single.length > escaped.length ? escaped : single
}

/** The module as it should be, of all files beside it. `change` is given the name and the text of each. */
export function compileLua(change: (file: string, lua: string) => string = (_, lua) => lua): string {
  const folder = join(STORE, 'lua')
  const pieces = readdirSync(folder)
    .sort()
    .flatMap((file) => piecesOf(change(file, readFileSync(join(folder, file), 'utf8'))))
  const parts = pieces.filter(({ kind }) => kind === 'part')
  const scripts = pieces.filter(({ kind }) => kind === 'script')
  return [
    '// biome-ignore-all format: compiled from lua/*.lua by scripts/compile-lua.ts. Do not edit.',
    "import { script } from './script.ts'",
    '',
    ...parts.map(({ name, lua }) => `const ${constant(name)}_PART =\n  ${quoted(lua)}`),
    '',
    ...scripts.map(({ name, uses, lua }) => {
      const used = uses.map((part) => `${constant(part)}_PART`).join(', ')
      return `export const ${constant(name)} = script(\n  '${name}',\n  [${used}],\n  ${quoted(lua)},\n)`
    }),
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MODULE, compileLua())

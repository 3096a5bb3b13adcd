import type { FileTree } from '../../discover/tree.ts'

export interface PathResolver {
  resolve(from: string, specifier: string): string | null
}

interface Alias {
  /** The pattern without its star: '@/'. */
  readonly prefix: string
  readonly hasStar: boolean
  readonly targets: readonly string[]
}

const EXTENSIONS = [
  '',
  '.ts',
  '.tsx',
  '.js',
  '.mjs',
  '.cjs',
  '.jsx',
  '.mts',
  '.cts',
  '/index.ts',
  '/index.js',
  '/index.tsx',
]
const IMPORT =
  /\bfrom\s*['"]([^'"\n]+)['"]|\b(?:require|import)\s*\(\s*['"]([^'"\n]+)['"]|\bimport\s*['"]([^'"\n]+)['"]/g

/** Specifiers that a text imports, found without a parser. */
export function findImports(text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, from, called, bare]) => from ?? called ?? bare ?? '')
}

export function resolverOf(tree: FileTree): PathResolver {
  const aliases = new Map<string, readonly Alias[]>()
  const packages = new Map<string, string>()
  let isIndexed = false
  const indexPackages = (): void => {
    if (isIndexed) return
    isIndexed = true
    for (const path of tree.paths) {
      if (path !== 'package.json' && !path.endsWith('/package.json')) continue
      const name = /"name"\s*:\s*"([^"]+)"/.exec(tree.text(path) ?? '')?.[1]
      if (name !== undefined) packages.set(name, folderOf(path))
    }
  }
  return {
    resolve(from, specifier) {
      if (specifier.startsWith('.')) return findFile(tree, join(folderOf(from), specifier))
      for (const folder of foldersAbove(from)) {
        const found = resolveAlias(tree, aliasesIn(tree, folder, aliases), specifier)
        if (found !== null) return found
      }
      // Conventions of frameworks, where no configuration says so.
      const tail = /^(?:@|~|src|#)\/(.+)$/.exec(specifier)?.[1]
      if (tail !== undefined) {
        for (const folder of foldersAbove(from)) {
          const found = findFile(tree, join(folder, `src/${tail}`)) ?? findFile(tree, join(folder, tail))
          if (found !== null) return found
        }
      }
      indexPackages()
      const folder = packages.get(specifier)
      return folder === undefined
        ? null
        : (findFile(tree, join(folder, 'src/index')) ?? findFile(tree, join(folder, 'index')))
    },
  }
}

function findFile(tree: FileTree, path: string): string | null {
  for (const extension of EXTENSIONS) if (tree.has(path + extension)) return path + extension
  const source = path.replace(/\.([cm]?)jsx?$/, '.$1ts')
  if (source !== path && tree.has(source)) return source
  return source !== path && tree.has(`${source}x`) ? `${source}x` : null
}

function resolveAlias(tree: FileTree, aliases: readonly Alias[], specifier: string): string | null {
  for (const { prefix, hasStar, targets } of aliases) {
    if (hasStar ? !specifier.startsWith(prefix) : specifier !== prefix) continue
    for (const target of targets) {
      const found = findFile(tree, target.replace('*', specifier.slice(prefix.length)))
      if (found !== null) return found
    }
  }
  return null
}

function aliasesIn(tree: FileTree, folder: string, known: Map<string, readonly Alias[]>): readonly Alias[] {
  const before = known.get(folder)
  if (before !== undefined) return before
  const aliases = ['tsconfig.json', 'jsconfig.json', 'tsconfig.base.json'].flatMap((name) => {
    const text = tree.has(join(folder, name)) ? tree.text(join(folder, name)) : null
    return text === null ? [] : readAliases(text, folder)
  })
  known.set(folder, aliases)
  return aliases
}

function readAliases(text: string, folder: string): Alias[] {
  const json = parseLoosely(text) as { compilerOptions?: { baseUrl?: string; paths?: Record<string, string[]> } } | null
  const { baseUrl, paths } = json?.compilerOptions ?? {}
  const base = join(folder, baseUrl ?? '.')
  const aliases = Object.entries(paths ?? {}).map(([pattern, targets]) => ({
    prefix: pattern.replace('*', ''),
    hasStar: pattern.includes('*'),
    targets: Array.isArray(targets) ? targets.map((target) => join(base, String(target))) : [],
  }))
  if (baseUrl !== undefined) aliases.push({ prefix: '', hasStar: true, targets: [join(base, '*')] })
  return aliases
}

/** JSON with comments and trailing commas. */
function parseLoosely(text: string): unknown {
  const plain = text
    .replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => (found.startsWith('"') ? found : ''))
    .replaceAll(/,(\s*[}\]])/g, '$1')
  try {
    return JSON.parse(plain)
  } catch {
    return null
  }
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    folders.push(folder)
    if (folder === '') return folders
  }
}

export function join(folder: string, path: string): string {
  const parts: string[] = []
  for (const part of `${path.startsWith('/') ? '' : folder}/${path}`.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}

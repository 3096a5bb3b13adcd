import type { FileTree } from '../../discover/tree.ts'
import { type ImportBinding, type Module, parseModule } from './module.ts'
import { findImports, type PathResolver, resolverOf } from './resolve-path.ts'

/** The JavaScript and TypeScript of one tree. A module is parsed when something asks for it, and once. */
export interface Modules {
  get(path: string): Module | null
  /** The module that an import names, if it is in the tree. */
  resolve(from: string, specifier: string): Module | null
  resolvePath(from: string, specifier: string): string | null
  /** Paths of the modules that import this one. */
  importers(path: string): readonly string[]
  /** Paths that a file imports, inside the tree. */
  importsOf(path: string): readonly string[]
}

const SCRIPT = /\.(?:[cm]?[jt]s|[jt]sx)$/
/** Larger files are bundles or data. */
export const MAX_LENGTH = 1_000_000

const known = new WeakMap<FileTree, Modules>()

export function modulesOf(tree: FileTree): Modules {
  const modules = known.get(tree) ?? openModules(tree)
  known.set(tree, modules)
  return modules
}

export function isScript(path: string): boolean {
  return SCRIPT.test(path) && !/\.(?:min|bundle)\.js$|\.d\.[cm]?ts$/.test(path)
}

function openModules(tree: FileTree): Modules {
  const parsed = new Map<string, Module | null>()
  const imports = new Map<string, readonly string[]>()
  const resolver: PathResolver = resolverOf(tree)
  let importers: Map<string, string[]> | null = null
  const modules: Modules = {
    get(path) {
      const before = parsed.get(path)
      if (before !== undefined) return before
      const text = isScript(path) ? tree.text(path) : null
      const module = text === null || text.length > MAX_LENGTH ? null : parseOrNull(path, text)
      parsed.set(path, module)
      return module
    },
    resolve(from, specifier) {
      const path = resolver.resolve(from, specifier)
      return path === null ? null : modules.get(path)
    },
    resolvePath: (from, specifier) => resolver.resolve(from, specifier),
    importsOf(path) {
      const before = imports.get(path)
      if (before !== undefined) return before
      const text = isScript(path) ? (tree.text(path) ?? '') : ''
      const found = findImports(text).flatMap((specifier) => resolver.resolve(path, specifier) ?? [])
      imports.set(path, found)
      return found
    },
    importers(path) {
      importers ??= reverse(tree, modules)
      return importers.get(path) ?? []
    },
  }
  return modules
}

function parseOrNull(path: string, text: string): Module | null {
  try {
    return parseModule(path, text)
  } catch {
    return null
  }
}

function reverse(tree: FileTree, modules: Modules): Map<string, string[]> {
  const importers = new Map<string, string[]>()
  for (const path of tree.paths) {
    if (!isScript(path)) continue
    for (const target of modules.importsOf(path)) {
      const list = importers.get(target) ?? []
      importers.set(target, list)
      list.push(path)
    }
  }
  return importers
}

/** The module and the name that a binding finally means, through re-exports. */
export function followExport(
  modules: Modules,
  from: string,
  { from: specifier, name }: ImportBinding,
  depth = 5,
): { readonly module: Module; readonly name: string } | null {
  const module = modules.resolve(from, specifier)
  if (module === null || depth === 0) return null
  if (name === '*') return { module, name }
  const target = module.exports.get(name)
  if (target !== undefined) {
    return 'from' in target ? followExport(modules, module.path, target, depth - 1) : { module, name }
  }
  for (const star of module.starExports) {
    const found = followExport(modules, module.path, { from: star, name }, depth - 1)
    if (found !== null) return found
  }
  return null
}

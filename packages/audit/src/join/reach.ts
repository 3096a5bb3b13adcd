import type { FileTree } from '../discover/tree.ts'
import { modulesOf } from '../read/javascript/modules.ts'
import { folderOf, join } from '../read/javascript/resolve-path.ts'

/** All files that a process loads that starts with these, by their imports. */
export function reachableFrom(tree: FileTree, entries: readonly string[]): ReadonlySet<string> {
  const modules = modulesOf(tree)
  const reached = new Set(entries)
  const waiting = [...entries]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const target of path.endsWith('.py') ? pythonImports(tree, path) : modules.importsOf(path)) {
      if (reached.has(target)) continue
      reached.add(target)
      waiting.push(target)
    }
  }
  return reached
}

const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+([\w, \t*()]+)|import[ \t]+([\w.]+))/gm

function pythonImports(tree: FileTree, path: string): string[] {
  const text = tree.text(path) ?? ''
  const folder = folderOf(path)
  return [...text.matchAll(PYTHON_IMPORT)].flatMap(([, from, names, plain]) => {
    const module = from ?? plain ?? ''
    const dots = /^\.*/.exec(module)![0].length
    const parts = module
      .slice(dots)
      .split('.')
      .filter((part) => part !== '')
    const bases = dots > 0 ? [join(folder, '../'.repeat(dots - 1) || '.')] : foldersUpFrom(folder)
    const targets = (names ?? '').split(/[\s,()]+/).filter((name) => /^\w+$/.test(name))
    return bases.flatMap((base) =>
      [parts, ...targets.map((name) => [...parts, name])].flatMap((each) =>
        pythonFile(tree, join(base, each.join('/'))),
      ),
    )
  })
}

/** A package is its `__init__.py`. */
export function pythonFile(tree: FileTree, path: string): string[] {
  return [`${path}.py`, `${path}/__init__.py`].filter((file) => tree.has(file))
}

function foldersUpFrom(folder: string): string[] {
  const folders = [folder]
  for (let at = folder; at !== ''; ) {
    at = folderOf(at)
    folders.push(at)
  }
  return folders
}

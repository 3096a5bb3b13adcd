import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Language, type Node, Parser, type Tree } from 'web-tree-sitter'

export type { Node } from 'web-tree-sitter'

let parser: Parser | null = null

export async function preparePython(): Promise<void> {
  if (parser !== null) return
  await Parser.init()
  const language = await Language.load(readFileSync(grammarPath()))
  parser = new Parser()
  parser.setLanguage(language)
}

/** The published package holds the grammar beside this file; a checkout has it as a package. */
function grammarPath(): string {
  const bundled = fileURLToPath(new URL('./tree-sitter-python.wasm', import.meta.url))
  if (existsSync(bundled)) return bundled
  return createRequire(import.meta.url).resolve('tree-sitter-python/tree-sitter-python.wasm')
}

/** Trees live outside the memory of JavaScript, so this one is freed when `use` returns. */
export function withPython<T>(text: string, use: (root: Node) => T): T {
  if (parser === null) throw new Error('The Python grammar is not loaded.')
  const tree: Tree | null = parser.parse(text)
  if (tree === null) throw new Error('The Python parser gave up.')
  try {
    return use(tree.rootNode)
  } finally {
    tree.delete()
  }
}

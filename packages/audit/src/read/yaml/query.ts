import type { YamlNode } from './node.ts'
import type { YamlDocument } from './outline.ts'

const MAX_MERGES = 5

/** The child with this key, also through `<<: *anchor`. */
export function child(document: YamlDocument, node: YamlNode | undefined, key: string): YamlNode | undefined {
  return children(document, node).find((entry) => entry.key === key)
}

/** All children, those of merged anchors last, since a key of the mapping itself wins. */
export function children(document: YamlDocument, node: YamlNode | undefined, depth = 0): readonly YamlNode[] {
  if (node === undefined || depth > MAX_MERGES) return []
  const target = node.alias === null ? node : document.anchors.get(node.alias)
  if (target === undefined) return []
  const merged = target.children.filter(({ key }) => key === '<<')
  if (merged.length === 0 && target === node) return node.children
  const inherited = merged.flatMap((merge) => [merge, ...merge.children]).filter(({ alias }) => alias !== null)
  return [...target.children, ...inherited.flatMap((merge) => children(document, merge, depth + 1))]
}

export function at(
  document: YamlDocument,
  node: YamlNode | undefined,
  ...path: readonly string[]
): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>((found, key) => child(document, found, key), node)
}

/** Whether children of this node can be hidden behind a template action or an unknown anchor. */
export function isOpen(document: YamlDocument, node: YamlNode): boolean {
  if (node.isOpen) return true
  if (node.alias !== null && !document.anchors.has(node.alias)) return true
  return node.children.some(({ key, alias }) => key === '<<' && alias !== null && !document.anchors.has(alias))
}

export function hasHole(text: string | null): boolean {
  return text !== null && /\{\{|\$\{|\{%|<%/.test(text)
}

/** A scalar that stands as it is: `null` if there is none, or a template decides. */
export function literal(node: YamlNode | undefined): string | null {
  return node === undefined || hasHole(node.value) ? null : node.value
}

/** Every node of the document, parents first; iterative, so that no depth of nesting matters. */
export function* nodes(document: YamlDocument): Generator<YamlNode> {
  const stack: YamlNode[] = [document.root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node
    for (let index = node.children.length - 1; index >= 0; index--) stack.push(node.children[index]!)
  }
}

/** The words of `command: [a, b]`, `command: a b` and block sequences, and the line on which each item stands. */
export function words(document: YamlDocument, node: YamlNode | undefined): readonly { text: string; line: number }[] {
  if (node === undefined) return []
  if (node.value !== null) return [{ text: node.value, line: node.line }]
  return children(document, node).flatMap(({ key, value, line }) =>
    key === null && value !== null ? [{ text: value, line }] : [],
  )
}

import type { FileTree } from '../../discover/tree.ts'

/** Guards of the user's own, from `cronce.audit.json` or the key `cronce.audit` of package.json. */
export function ownGuardsOf(tree: FileTree): readonly string[] {
  for (const [file, key] of [
    ['cronce.audit.json', null],
    ['package.json', 'cronce.audit'],
  ] as const) {
    const text = tree.has(file) ? tree.text(file) : null
    if (text === null) continue
    try {
      const json = JSON.parse(text) as Record<string, unknown>
      const settings = (key === null ? json : json[key]) as { guards?: unknown } | undefined
      if (Array.isArray(settings?.guards)) return settings.guards.filter((guard) => typeof guard === 'string')
    } catch {
      // The configuration itself is checked, and reported, where all of it is read.
    }
  }
  return []
}

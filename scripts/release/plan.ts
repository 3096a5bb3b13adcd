/** Pure parts of a release: every package has the same version, and depends on the others in exactly that version. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$/
const FIELDS = ['dependencies', 'peerDependencies'] as const

export function isVersion(text: string): boolean {
  return VERSION.test(text)
}

export function withVersion<Some extends Manifest>(manifest: Some, version: string, ours: ReadonlySet<string>): Some {
  const ranges = FIELDS.flatMap((field) => {
    const known = manifest[field]
    if (known === undefined) return []
    const updated = Object.entries(known).map(([name, range]) => [name, ours.has(name) ? version : range])
    return [[field, Object.fromEntries(updated)]]
  })
  return { ...manifest, version, ...Object.fromEntries(ranges) }
}

/** Names of what differs from `version`: packages, and ranges of packages on each other. */
export function findMismatches(manifests: readonly Manifest[], version: string): readonly string[] {
  const ours = new Set(manifests.map(({ name }) => name))
  return manifests.flatMap((manifest) => [
    ...(manifest.version === version ? [] : [`${manifest.name} is ${manifest.version}`]),
    ...FIELDS.flatMap((field) => Object.entries(manifest[field] ?? {}))
      .filter(([name, range]) => ours.has(name) && range !== version)
      .map(([name, range]) => `${manifest.name} wants ${name} ${range}`),
  ])
}

/** Each package after those that it needs, so that no published package ever lacks one. */
export function publishOrder(manifests: readonly Manifest[]): readonly string[] {
  const order: string[] = []
  const visit = ({ name, dependencies = {}, peerDependencies = {} }: Manifest): void => {
    if (order.includes(name)) return
    for (const needed of manifests.filter((one) => one.name in dependencies || one.name in peerDependencies)) {
      visit(needed)
    }
    order.push(name)
  }
  for (const manifest of manifests) visit(manifest)
  return order
}

/** The heading `## 0.1.0, unreleased` becomes `## 0.1.0, 2026-11-18`. */
export function dateChanges(changes: string, version: string, day: string): string | null {
  const heading = /^## .*, unreleased$/m
  return heading.test(changes) ? changes.replace(heading, `## ${version}, ${day}`) : null
}

import type { Declared } from '../engine/parts.ts'
import type { Json } from '../model/json.ts'
import { nodeCrypto } from '../node-crypto.ts'

/**
 * Random, so that two processes never collide: hosts, pids and names all repeat. Begins with a letter, so that no command takes
 * it for a flag.
 */
export function newId(): string {
  for (;;) {
    const id = nodeCrypto().randomBytes(12).toString('base64url')
    if (/^[a-z]/i.test(id)) return id
  }
}

/** The default version of the code: two processes that declare the same are the same deployment. */
export function hashDeclarations(
  declared: readonly Declared[],
  jobs: readonly string[],
  watch: Readonly<Record<string, Json>>,
): string {
  const sorted = [...declared].sort((a, b) => (a.id < b.id ? -1 : 1))
  return nodeCrypto()
    .createHash('sha256')
    .update(canonical([sorted, [...jobs].sort(), ...(Object.keys(watch).length === 0 ? [] : [watch])]))
    .digest('hex')
    .slice(0, 16)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

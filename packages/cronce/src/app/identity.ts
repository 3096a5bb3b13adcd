import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Declared } from '../engine/parts.ts'

/** Random, so that two processes never meet: hosts, pids and names all repeat. */
export function newId(): string {
  return randomBytes(12).toString('base64url')
}

/** The version of the code, if nobody says: two processes that declare the same are the same deployment. */
export function hashDeclarations(declared: readonly Declared[], jobs: readonly string[]): string {
  const sorted = [...declared].sort((a, b) => (a.id < b.id ? -1 : 1))
  return createHash('sha256')
    .update(canonical([sorted, [...jobs].sort()]))
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

/** Stable for a fire, whatever run asks, and short enough for any gateway. */
export function idempotencyKey(parts: readonly (string | number)[]): string {
  return `cronce_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

const FOLDERS_UP = 20

/** The name in the package.json nearest to the program that was started: two services rarely share one. */
export function packageName(program: string | undefined): string | undefined {
  if (program === undefined) return undefined
  let folder = dirname(program)
  for (let up = 0; up < FOLDERS_UP; up++) {
    const name = readName(join(folder, 'package.json'))
    if (name !== undefined) return name
    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
  }
  return undefined
}

function readName(file: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a folder tells about the project in it. */
export interface ProjectFacts {
  readonly isTypeScript: boolean
  /** Whether `.ts` and `.js` are modules; else they want `.mts` and `.mjs`. */
  readonly isModule: boolean
  readonly packages: readonly string[]
  readonly framework: string | null
  readonly store: StoreGuess
}

export interface StoreGuess {
  /** As it stands in the configuration: never a password. */
  readonly text: string
  readonly why: string
}

type Manifest = Readonly<
  Partial<Record<'type' | 'dependencies' | 'devDependencies' | 'peerDependencies' | 'optionalDependencies', unknown>>
>

const FRAMEWORKS: readonly (readonly [name: string, said: string])[] = [
  ['next', 'Next.js'],
  ['@nestjs/core', 'Nest'],
  ['fastify', 'Fastify'],
  ['hono', 'Hono'],
  ['koa', 'Koa'],
  ['express', 'Express'],
]
const COMPILERS = ['typescript', 'tsx', 'ts-node']

export function detect(folder: string, env: Readonly<Record<string, string | undefined>>): ProjectFacts {
  const manifest = readManifest(join(folder, 'package.json'))
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest ?? {}
  const packages = [dependencies, devDependencies, peerDependencies, optionalDependencies].flatMap(keysOf)
  return {
    isTypeScript:
      manifest === null ||
      existsSync(join(folder, 'tsconfig.json')) ||
      COMPILERS.some((compiler) => packages.includes(compiler)),
    // Without a package.json Node looks at the file itself.
    isModule: manifest === null || manifest.type === 'module',
    packages,
    framework: FRAMEWORKS.find(([name]) => packages.includes(name))?.[1] ?? null,
    store: guessStore(packages, env),
  }
}

/** What is set counts more than what is installed: there may be several drivers. */
function guessStore(packages: readonly string[], env: Readonly<Record<string, string | undefined>>): StoreGuess {
  const { DATABASE_URL, REDIS_URL } = env
  if (/^postgres(ql)?:/.test(DATABASE_URL ?? '')) return { text: 'env:DATABASE_URL', why: 'DATABASE_URL is set' }
  if (/^rediss?:/.test(REDIS_URL ?? '')) return { text: 'env:REDIS_URL', why: 'REDIS_URL is set' }
  const sql = ['pg', 'postgres'].find((driver) => packages.includes(driver))
  if (sql !== undefined) return { text: 'env:DATABASE_URL', why: `${sql} is installed` }
  const redis = ['ioredis', 'redis'].find((driver) => packages.includes(driver))
  if (redis !== undefined) return { text: 'env:REDIS_URL', why: `${redis} is installed` }
  return { text: 'sqlite:cronce.db', why: 'no server is set up: fine for one machine' }
}

function readManifest(file: string): Manifest | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof manifest === 'object' && manifest !== null ? (manifest as Manifest) : null
  } catch {
    return null
  }
}

function keysOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

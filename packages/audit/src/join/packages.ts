import type { FileTree } from '../discover/tree.ts'
import { folderOf, join } from '../read/javascript/resolve-path.ts'

/** The npm package that a file belongs to. */
export interface Package {
  /** '' is the root. */
  readonly folder: string
  /** Its package.json is among the files, so all of it should be. */
  readonly isWhole: boolean
  /** The first major version that its range of a dependency allows; `null`: not stated. */
  majorOf(dependency: string): number | null
}

const packages = new WeakMap<FileTree, Map<string, Package>>()

export function packageOf(tree: FileTree, path: string): Package {
  let folder = folderOf(path)
  while (folder !== '' && !tree.has(join(folder, 'package.json'))) folder = folderOf(folder)
  const known = packages.get(tree) ?? new Map<string, Package>()
  packages.set(tree, known)
  const found = known.get(folder) ?? readPackage(tree, folder)
  known.set(folder, found)
  return found
}

function readPackage(tree: FileTree, folder: string): Package {
  const ranges = rangesIn(tree.text(join(folder, 'package.json')))
  return {
    folder,
    isWhole: tree.has(join(folder, 'package.json')),
    majorOf: (dependency) => {
      const major = /\d+/.exec(ranges[dependency] ?? '')?.[0]
      return major === undefined ? null : Number(major)
    },
  }
}

function rangesIn(text: string | null): Readonly<Record<string, string>> {
  try {
    const { dependencies, devDependencies } = JSON.parse(text ?? '{}') as Readonly<Record<string, object | undefined>>
    return { ...devDependencies, ...dependencies } as Readonly<Record<string, string>>
  } catch {
    return {}
  }
}

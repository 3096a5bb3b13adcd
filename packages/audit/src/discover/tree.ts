/** The files of the target. Nothing else of the target is ever looked at. */
export interface FileTree {
  /** Paths relative to the root, with slashes, in alphabetical order. */
  readonly paths: readonly string[]
  has(path: string): boolean
  /** The text of a file, or `null` if it is missing, too large or not text. */
  text(path: string): string | null
  /** Why a file that is there has no text. */
  problem?(path: string): string | null
}

/** A tree in memory, for tests and examples. */
export function treeOf(files: Readonly<Record<string, string>>): FileTree {
  return {
    paths: Object.keys(files).sort(),
    has: (path) => Object.hasOwn(files, path),
    text: (path) => (Object.hasOwn(files, path) ? files[path]! : null),
  }
}

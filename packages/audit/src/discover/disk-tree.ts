import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { decode } from './encoding.ts'
import { type Ignore, ignoreOf } from './gitignore.ts'
import type { FileTree } from './tree.ts'

/** Never part of what is deployed, and often large. */
const SKIPPED_FOLDERS = new Set(
  '.git .hg .svn node_modules bower_components .venv venv __pycache__ site-packages dist out coverage .next .nuxt .output .turbo .cache .terraform target'.split(
    ' ',
  ),
)
/** Holds what was built, or templates and scripts from which something is built: its code is left out. */
const BUILD_FOLDER = 'build'
const BUILT = /\.(?:[cm]?[jt]sx?|py|json|map)$/
const MAX_BYTES = 5_000_000
/** Links are not followed, so folders form a tree; this bounds one that is built to be deep. */
const MAX_DEPTH = 60

/** The files below a folder of the disk, without what .gitignore leaves out. */
export function diskTree(root: string, isLeftOut: (path: string) => boolean = () => false): FileTree {
  const paths: string[] = []
  collect(root, '', 0, [], isLeftOut, paths)
  paths.sort()
  const known = new Set(paths)
  return {
    paths,
    has: (path) => known.has(path),
    text: (path) => (known.has(path) ? readText(join(root, path)) : null),
    problem: (path) => (known.has(path) ? problemOf(join(root, path)) : null),
  }
}

function collect(
  root: string,
  folder: string,
  depth: number,
  ignores: readonly Ignore[],
  isLeftOut: (path: string) => boolean,
  paths: string[],
): void {
  if (depth > MAX_DEPTH) return
  const entries = readEntries(join(root, folder))
  const here = entries.some(({ name }) => name === '.gitignore')
    ? [...ignores, ignoreOf(folder, readText(join(root, folder, '.gitignore')) ?? '')]
    : ignores
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const isFolder = entry.isDirectory()
    if ((isFolder && SKIPPED_FOLDERS.has(entry.name)) || isLeftOut(path)) continue
    if (here.some((ignore) => ignore(path, isFolder))) continue
    if (isFolder) collect(root, path, depth + 1, here, isLeftOut, paths)
    else if (entry.isFile() && !isBuilt(path)) paths.push(path)
  }
}

function isBuilt(path: string): boolean {
  return BUILT.test(path) && path.split('/').slice(0, -1).includes(BUILD_FOLDER)
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // A folder that may not be read holds nothing for the audit.
    return []
  }
}

function readText(file: string): string | null {
  try {
    return statSync(file).size > MAX_BYTES ? null : decode(readFileSync(file))
  } catch {
    return null
  }
}

/** Asked only for files without text. */
function problemOf(file: string): string | null {
  try {
    const { size } = statSync(file)
    if (size > MAX_BYTES) return `The file has more than ${MAX_BYTES / 1e6} MB.`
    // A file without an extension can be anything.
    return extname(file) !== '' && decode(readFileSync(file)) === null ? 'The file is not text.' : null
  } catch (error) {
    return `The file cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`
  }
}

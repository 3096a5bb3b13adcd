import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { CronceError } from 'cronce/cron'
import { formatCount } from '../../format.ts'
import type { SourceFile } from './plan-edits.ts'

const CODE = /\.[cm]?[jt]s$/
/** Not read, since it has JSX. */
const JSX = /\.[jt]sx$/
const DECLARATIONS = /\.d\.[cm]?ts$/
const NOT_ENTERED = /^(node_modules|dist|build|coverage|out|\..*)$/
const MOST_FILES = 50_000
const LARGEST_BYTES = 2_000_000

export interface ReadSources {
  /** Those that mention node-cron. */
  readonly sources: readonly SourceFile[]
  readonly looked: number
  /** Files that mention node-cron and are not read. */
  readonly skipped: readonly { readonly file: string; readonly why: string }[]
}

/** The files that mention node-cron, in these folders and below. */
export function readSourceFiles(places: readonly string[], cwd: string): ReadSources {
  const sources: SourceFile[] = []
  const skipped: { file: string; why: string }[] = []
  const files = [...new Set(places.flatMap((place) => filesIn(resolve(cwd, place), place)))]
  for (const path of files) {
    const file = relative(cwd, path) || path
    if (statSync(path).size > LARGEST_BYTES) continue
    const text = readFileSync(path, 'utf8')
    if (!text.includes('node-cron')) continue
    if (JSX.test(path)) skipped.push({ file, why: 'it has JSX' })
    else sources.push({ file, text })
  }
  return { sources, looked: files.length, skipped }
}

function filesIn(path: string, named: string): readonly string[] {
  const found: string[] = []
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const isNamed = next === path
    const stats = statSync(next, { throwIfNoEntry: false })
    if (stats === undefined) {
      // A link to nothing, or a file that went away meanwhile.
      if (!isNamed) continue
      throw new CronceError('FILE_NOT_FOUND', `There is no file or folder ${named}.`, { hint: 'Check the path.' })
    }
    if (stats.isFile() && (isNamed || isCode(next))) found.push(next)
    if (stats.isDirectory()) waiting.push(...entriesOf(next))
    if (found.length > MOST_FILES) {
      throw new CronceError('FILE_UNREADABLE', `${named} has more than ${formatCount(MOST_FILES)} files of code.`, {
        hint: 'Name the folders that use node-cron.',
      })
    }
  }
  return found.sort()
}

function isCode(path: string): boolean {
  return (CODE.test(path) || JSX.test(path)) && !DECLARATIONS.test(path)
}

/** Links to folders are not followed: they may lead back. */
function entriesOf(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !NOT_ENTERED.test(entry.name) && !entry.isSymbolicLink())
    .map(({ name }) => join(folder, name))
}

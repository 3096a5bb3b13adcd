import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'

export interface FileWatch {
  /** Also these. */
  add(files: readonly string[]): void
  /** Any source beside those that are watched counts, too: something is missing, or named wrongly. */
  widen(isWide: boolean): void
  close(): void
}

/** Editors write a file in several steps. */
const SETTLE_MS = 100
const SOURCES = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'])
const MOST_FOLDERS = 200

/**
 * Be told once when some of the files have changed. Folders are watched, since most editors do not write a file but put a new one
 * in its place.
 */
export function watchFiles(onChange: (file: string) => void): FileWatch {
  const files = new Set<string>()
  const folders = new Map<string, FSWatcher>()
  let isWide = false
  let timer: NodeJS.Timeout | null = null

  const changed = (file: string): void => {
    if (!files.has(file) && !(isWide && SOURCES.has(extname(file)))) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(() => onChange(file), SETTLE_MS)
  }
  const watchFolder = (folder: string): void => {
    if (folders.has(folder) || folders.size >= MOST_FOLDERS) return
    try {
      const watcher = watch(folder, (_, name) => {
        if (name !== null) changed(join(folder, basename(name)))
      })
      // The folder is gone: what was in it can't change any more.
      watcher.on('error', () => watcher.close())
      folders.set(folder, watcher)
    } catch {
      // No such folder yet: there will be another change before it matters.
    }
  }
  return {
    add(added) {
      for (const file of added) {
        files.add(file)
        watchFolder(dirname(file))
      }
    },
    widen(wide) {
      isWide = wide
    },
    close() {
      if (timer !== null) clearTimeout(timer)
      for (const watcher of folders.values()) watcher.close()
      folders.clear()
    },
  }
}

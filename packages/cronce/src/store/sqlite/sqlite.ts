import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { CronceError } from '../../errors.ts'
import type { StoreSource } from '../store.ts'
import { type Host, systemHost } from './host.ts'
import { openFile } from './open.ts'
import { openStore } from './store.ts'

export interface SqliteOptions {
  /** Made if it does not exist; its folder must. */
  readonly file: string
  /** The file may be where it vanishes with its container, also in production. @default false */
  readonly ephemeral?: boolean | undefined
  /** Take over a file that was copied or restored. @default false */
  readonly adopt?: boolean | undefined
}

/**
 * All processes of one machine that open the file share the store. Your own tables may be in the same file: then a run can
 * write them in one transaction with its settlement.
 */
export function sqlite(options: string | SqliteOptions): StoreSource<DatabaseSync> {
  return sqliteOn(options, systemHost())
}

/** On a machine that says what a test wants it to say. */
export function sqliteOn(options: string | SqliteOptions, host: Host): StoreSource<DatabaseSync> {
  const { file, ephemeral, adopt } = resolveOptions(
    typeof options === 'object' && options !== null ? options : { file: options },
  )
  return {
    name: `sqlite:${file}`,
    async open(given) {
      const all = { ...given, adopt: given.adopt || adopt }
      return openStore(await openFile(file, ephemeral, host, all), host, all)
    },
  }
}

/** `sqlite:FILE`, with a relative or an absolute path; `?ephemeral` and `?adopt` may follow. */
export function sqliteFromUrl(url: string): StoreSource<DatabaseSync> {
  const match = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?]+)(?:\?(.*))?$/.exec(url)
  if (match === null) throw invalid(`"${url}" names no file.`, 'Write sqlite:FILE, or sqlite:///FILE from the root.')
  const flags = new Set((match[2] ?? '').split('&').filter((flag) => flag !== ''))
  const ephemeral = flags.delete('ephemeral')
  const adopt = flags.delete('adopt')
  const [unknown] = flags
  if (unknown !== undefined) throw invalid(`"${unknown}" is no option of a SQLite store.`, 'Use ephemeral or adopt.')
  return sqlite({ file: match[1]!, ephemeral, adopt })
}

function resolveOptions(options: SqliteOptions): Required<SqliteOptions> & { ephemeral: boolean; adopt: boolean } {
  const { file, ephemeral = false, adopt = false, ...unknown } = options
  const [name] = Object.keys(unknown)
  if (name !== undefined) throw invalid(`"${name}" is no option of a SQLite store.`, 'Use file, ephemeral or adopt.')
  if (typeof file !== 'string' || file === '' || file.includes('\0')) {
    throw invalid('A SQLite store needs the name of a file.', 'Write sqlite("FILE").')
  }
  if (/^(:memory:|sqlite:|file:)/.test(file)) {
    throw invalid(`"${file}" is not the name of a file.`, 'Name a plain file; for a store in memory use memory().')
  }
  if (typeof ephemeral !== 'boolean' || typeof adopt !== 'boolean') {
    throw invalid('ephemeral and adopt are true or false.', 'Write true or false.')
  }
  return { file: resolve(file), ephemeral, adopt }
}

function invalid(message: string, hint: string): CronceError {
  return new CronceError('STORE_OPTIONS_INVALID', message, { hint })
}

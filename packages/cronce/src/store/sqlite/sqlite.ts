import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { StoreSource } from '../store.ts'
import { demandOptions, optionsInvalid as invalid, shown, targetHint } from '../store-options.ts'
import { PRIVATE } from './file-mode.ts'
import { type Host, systemHost } from './host.ts'
import type { FileOptions } from './open.ts'

/** Options of `sqlite()`. */
export interface SqliteOptions {
  /** Made if it does not exist; its folder must. */
  readonly file: string
  /** The file may be where it vanishes with its container, also in production. @default false */
  readonly ephemeral?: boolean | undefined
  /** Take over a file that was copied or restored. @default false */
  readonly adopt?: boolean | undefined
  /** Who may read and write the files that are created: the file, SQLite's log beside it, and locks. @default 0o600 */
  readonly mode?: number | undefined
}

const NAMES = ['file', 'ephemeral', 'adopt', 'mode'] satisfies (keyof SqliteOptions)[]
/** What may follow the file in a URL. */
const FLAGS = ['ephemeral', 'adopt', 'mode=NNN']

const FOREIGN = { path: 'file', filename: 'file', database: 'file', db: 'file', url: 'file', storage: 'file' }

/**
 * All processes of one machine that open the file share the store. Your own tables may be in the same file: then a run can
 * write them in one transaction with its settlement.
 */
export function sqlite(options: string | SqliteOptions): StoreSource<DatabaseSync> {
  return sqliteOn(options, systemHost())
}

/** On a machine that reports what a test wants. */
export function sqliteOn(options: string | SqliteOptions, host: Host): StoreSource<DatabaseSync> {
  const { adopt, ...where } = resolveOptions(
    typeof options === 'object' && options !== null ? options : { file: options },
  )
  return {
    name: `sqlite:${where.file}`,
    async open(given) {
      // Only on opening: an app that uses another store never loads these modules.
      const [{ openFile }, { openStore }] = await Promise.all([import('./open.ts'), import('./store.ts')])
      const all = { ...given, adopt: given.adopt || adopt }
      return openStore(await openFile(where, host, all), host, all)
    },
  }
}

/** A file that is written by another clock than that of the machine, as if the machine had been started anew since. */
export function sqliteAt(file: string, clock: () => number): StoreSource<DatabaseSync> {
  return sqliteOn(file, { ...systemHost(), wall: clock, mono: clock, bootId: 'past' })
}

/** `sqlite:FILE`, with a relative or an absolute path; `?ephemeral`, `?adopt` and `?mode=660` may follow. */
export function sqliteFromUrl(url: string): StoreSource<DatabaseSync> {
  const match = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?]+)(?:\?(.*))?$/.exec(url)
  if (match === null) throw invalid(`"${url}" names no file.`, 'Write sqlite:FILE, or sqlite:///FILE from the root.')
  const flags = new Set((match[2] ?? '').split('&').filter((flag) => flag !== ''))
  const ephemeral = flags.delete('ephemeral')
  const adopt = flags.delete('adopt')
  const given = [...flags].find((flag) => flag.startsWith('mode='))
  if (given !== undefined) flags.delete(given)
  demandOptions('a SQLite store', Object.fromEntries([...flags].map((flag) => [flag, true])), FLAGS)
  return sqlite({
    file: match[1]!,
    ephemeral,
    adopt,
    mode: given === undefined ? undefined : readOctal(given.slice(5)),
  })
}

function readOctal(text: string): number {
  if (/^0?[0-7]{3}$/.test(text)) return Number.parseInt(text, 8)
  throw invalid(`The option mode=${text} is not a file mode.`, 'Write three octal digits: mode=600, or mode=660.')
}

function resolveOptions(options: SqliteOptions): FileOptions & { readonly adopt: boolean } {
  demandOptions('a SQLite store', options, NAMES, FOREIGN)
  const { file, ephemeral = false, adopt = false, mode = PRIVATE } = options
  if (typeof file !== 'string' || file === '' || file.includes('\0')) {
    const write = "Write sqlite('./cronce.db') or sqlite({ file: './cronce.db' })."
    throw invalid(`sqlite() needs the name of a file, but got ${shown(file)}.`, targetHint(file, write))
  }
  if (/^(:memory:|sqlite:|file:)/.test(file)) {
    throw invalid(`"${file}" is not the name of a file.`, 'Name a plain file; for a store in memory use memory().')
  }
  if (typeof ephemeral !== 'boolean' || typeof adopt !== 'boolean') {
    throw invalid('The options ephemeral and adopt must be true or false.', 'Write true or false.')
  }
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o666 || (mode & PRIVATE) !== PRIVATE || (mode & 0o111) !== 0) {
    throw invalid(
      'The mode of a SQLite store must let its owner read and write, and must not let anyone execute.',
      'Write mode: 0o600, or 0o660 for a group.',
    )
  }
  return { file: resolve(file), ephemeral, adopt, mode }
}

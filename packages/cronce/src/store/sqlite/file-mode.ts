import { closeSync, existsSync, fchmodSync, openSync, readlinkSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Only the user that runs the process: inputs, results and errors are on record in the file. */
export const PRIVATE = 0o600

const LONGEST_LINK_CHAIN = 8

/**
 * Create an empty file with this mode, whatever the umask is, if there is none. SQLite takes the mode of its log from the file.
 * A file that exists is not opened: closing it would drop the locks that this process has on it. Never throws: what opens the
 * file next reports why it can't.
 */
export function createFile(path: string, mode: number, links = 0): void {
  try {
    const file = openSync(path, 'wx', mode)
    fchmodSync(file, mode)
    closeSync(file)
  } catch {
    // Perhaps a link to a file that does not exist yet.
    const target = existsSync(path) ? null : targetOf(path)
    if (target !== null && links < LONGEST_LINK_CHAIN) createFile(target, mode, links + 1)
  }
}

/** Create a folder for files of this mode, whatever the umask is, if there is none. Who may read the files may search the folder. */
export async function createFolder(path: string, fileMode: number): Promise<void> {
  const mode = fileMode | ((fileMode & 0o444) >> 2)
  const created = await mkdir(path, { recursive: true, mode })
  if (created !== undefined) await chmod(path, mode)
}

function targetOf(link: string): string | null {
  try {
    return resolve(dirname(link), readlinkSync(link))
  } catch {
    return null
  }
}

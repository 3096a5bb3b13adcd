import { spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServerError } from './errors.ts'
import { commandFolders, findExecutable, type Program, programs } from './programs.ts'
import { settlesWithin } from './wait.ts'

/** A browser with its libraries over a slow line, behind another test process's install. */
const INSTALL_LIMIT_MS = 20 * 60_000

/** Install the program's Debian package. `false` where we may not: not root, or no apt-get. */
export async function installFromApt(program: Program): Promise<boolean> {
  if (process.getuid?.() !== 0 || findExecutable(['apt-get'], commandFolders()) === undefined) return false

  const { apt } = programs[program].packages
  const log = openNamelessFile()
  try {
    // Detached, and writing to a file instead of a pipe: if the test run is killed, dpkg must still finish.
    const installer = spawn('sh', [fileURLToPath(new URL('apt-install.sh', import.meta.url)), apt], {
      cwd: '/',
      detached: true,
      // dpkg refuses to work without the sbin folders on its PATH.
      env: { ...process.env, PATH: commandFolders().concat('/sbin', '/bin').join(':') },
      stdio: ['ignore', log, log],
    })
    const exit = new Promise<number | null>((resolve, reject) => {
      installer.once('exit', resolve)
      installer.once('error', reject)
    })
    if ((await settlesWithin(exit, INSTALL_LIMIT_MS)) && (await exit) === 0) return true
    throw new ServerError('INSTALL_FAILED', `Installing ${apt} failed.\n${tail(log)}`, `Run: apt-get install ${apt}`)
  } finally {
    closeSync(log)
  }
}

/** A file that disappears with its last holder, so a SIGKILL leaves nothing to clean up. */
function openNamelessFile(): number {
  const directory = mkdtempSync(join(tmpdir(), 'cronce-install-'))
  try {
    return openSync(join(directory, 'log'), 'a+')
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Read by position: the installer's writes have moved the shared file offset to the end. */
function tail(file: number): string {
  const end = fstatSync(file).size
  const bytes = Buffer.alloc(Math.min(end, 2_000))
  readSync(file, bytes, 0, bytes.length, end - bytes.length)
  return bytes.toString()
}

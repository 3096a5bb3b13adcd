import { execFileSync } from 'node:child_process'
import { accessSync, constants, globSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Packages {
  readonly apt: string
  readonly brew: string
  readonly dnf: string
}

/** What we run, under which names it may be found, and which package brings it. */
export const programs = {
  // PostgreSQL is known by initdb: a `postgres` without its initdb beside it cannot make a data directory.
  initdb: { names: ['initdb'], packages: { apt: 'postgresql', brew: 'postgresql@17', dnf: 'postgresql-server' } },
  psql: { names: ['psql'], packages: { apt: 'postgresql-client', brew: 'libpq', dnf: 'postgresql' } },
  basebackup: {
    names: ['pg_basebackup'],
    packages: { apt: 'postgresql-client', brew: 'postgresql@17', dnf: 'postgresql-server' },
  },
  redis: { names: ['redis-server'], packages: { apt: 'redis-server', brew: 'redis', dnf: 'redis' } },
  etcd: { names: ['etcd'], packages: { apt: 'etcd-server', brew: 'etcd', dnf: 'etcd' } },
  zookeeper: { names: ['zkServer.sh'], packages: { apt: 'zookeeper', brew: 'zookeeper', dnf: 'zookeeper' } },
  java: {
    names: ['java'],
    packages: { apt: 'default-jre-headless', brew: 'openjdk', dnf: 'java-latest-openjdk-headless' },
  },
  pgbouncer: { names: ['pgbouncer'], packages: { apt: 'pgbouncer', brew: 'pgbouncer', dnf: 'pgbouncer' } },
  prometheus: {
    names: ['prometheus'],
    packages: { apt: 'prometheus', brew: 'prometheus', dnf: 'golang-github-prometheus' },
  },
  promtool: {
    names: ['promtool'],
    packages: { apt: 'prometheus', brew: 'prometheus', dnf: 'golang-github-prometheus' },
  },
  alertmanager: {
    names: ['prometheus-alertmanager', 'alertmanager'],
    packages: {
      apt: 'prometheus-alertmanager',
      brew: 'alertmanager',
      dnf: 'golang-github-prometheus-alertmanager',
    },
  },
  chromium: {
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    packages: { apt: 'chromium', brew: '--cask chromium', dnf: 'chromium' },
  },
} as const satisfies Record<string, { readonly names: readonly string[]; readonly packages: Packages }>

export type Program = keyof typeof programs

/** The folder of the programs of a PostgreSQL that tests are to run on instead of the machine's own. */
export const WANTED_POSTGRES = 'CRONCE_TEST_POSTGRES'
/** The folder of a `redis-server` that tests are to run on, likewise. */
export const WANTED_REDIS = 'CRONCE_TEST_REDIS'
/** The folder of an `etcd` that tests are to run on, likewise. */
export const WANTED_ETCD = 'CRONCE_TEST_ETCD'

/** The program's path on this machine, if it is there. */
export async function findProgram(program: Program): Promise<string | undefined> {
  return findExecutable(programs[program].names, [...ownFolders(program), ...commandFolders()])
}

/** Where this program is looked for before all others are. */
function ownFolders(program: Program): readonly string[] {
  const wanted = process.env[program === 'redis' ? WANTED_REDIS : WANTED_ETCD]
  if (program === 'zookeeper') return ['/usr/share/zookeeper/bin']
  if (program === 'redis' || program === 'etcd') return wanted === undefined ? [] : [wanted]
  return program === 'initdb' || program === 'psql' || program === 'basebackup' ? postgresFolders() : []
}

export function findExecutable(names: readonly string[], folders: readonly string[]): string | undefined {
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

/** PATH first, then the folders of servers that an ordinary user's PATH does not include. */
export function commandFolders(): readonly string[] {
  const { PATH = '' } = process.env
  const listed = PATH.split(delimiter).filter((folder) => folder !== '')
  return [...listed, '/usr/local/bin', '/usr/bin', '/usr/local/sbin', '/usr/sbin', '/opt/homebrew/bin']
}

/** Distributions keep each major version in its own folder, off the PATH. Newest first, after the requested version. */
function postgresFolders(): readonly string[] {
  const wanted = process.env[WANTED_POSTGRES]
  return wanted === undefined ? installedPostgres() : [wanted, ...installedPostgres()]
}

function installedPostgres(): readonly string[] {
  const layouts = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/{opt/homebrew,usr/local}/opt/postgresql@*/bin']
  const version = (folder: string) => Number(/([\d.]+)\/bin$/.exec(folder)?.[1] ?? 0)
  const versioned = globSync(layouts).sort((left, right) => version(right) - version(left))
  const config = findExecutable(['pg_config'], commandFolders())
  if (config === undefined) return versioned
  try {
    return [...versioned, execFileSync(config, ['--bindir'], { encoding: 'utf8', timeout: 60_000 }).trim()]
  } catch {
    return versioned // A pg_config that does not run is a pg_config we do not have.
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

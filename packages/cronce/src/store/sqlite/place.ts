import { constants, type Stats } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Host } from './host.ts'

/** From statfs(2). SQLite's locks do not hold, or do not hold between machines, on any of these. */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x786f4256, 'a folder of VirtualBox'],
  [0xbacbacbc, 'a folder of VMware'],
])
/** May be a network or the next folder: the system does not tell. */
const FUSE = 0x65735546

/** Data on these is lost with the container or the machine, and each container has its own. */
const PASSING: ReadonlyMap<number, string> = new Map([
  [0x794c7630, 'an overlay file system'],
  [0x01021994, 'a temporary file system'],
])

/** The real path of the file, if it may be there. Two names of one file would have two logs, and destroy it. */
export async function placeOf(
  file: string,
  ephemeral: boolean,
  host: Host,
  { production, warn }: Pick<OpenOptions, 'production' | 'warn'>,
): Promise<string> {
  const path = await realPath(resolve(file))
  const folder = dirname(path)
  const type = await host.fileSystem(folder)
  refuseNetwork(path, type, production, warn)
  const passing = PASSING.get(type)
  if (production && !ephemeral && passing !== undefined) {
    throw new StoreError(
      'STORE_EPHEMERAL',
      `${path} is on ${passing}: it vanishes with its container, and other containers have another one.`,
      { hint: 'Put the file on a volume that all instances share, or say ephemeral: true if you mean it.' },
    )
  }
  await requireWritable(path, folder)
  return path
}

async function realPath(path: string): Promise<string> {
  const folder = dirname(path)
  const found = await statOf(folder)
  if (found === null || !found.isDirectory()) {
    throw new StoreError(
      'STORE_UNREACHABLE',
      found === null ? `There is no folder ${folder}.` : `${folder} is not a folder.`,
      { hint: 'Make the folder, or name another file.' },
    )
  }
  const existing = await statOf(path)
  if (existing === null) return join(await realpath(folder), basename(path))
  if (!existing.isFile()) {
    throw new StoreError('STORE_UNREACHABLE', `${path} is not a file.`, { hint: 'Name a file.' })
  }
  // Unlike a symbolic link, a hard link can't be followed to the name that other processes use.
  if (existing.nlink > 1) {
    throw new StoreError('STORE_LINKED', `${path} has another name, by a hard link: each would have its own log.`, {
      hint: 'Remove the other name; use symbolic links.',
    })
  }
  return realpath(path)
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return null
    throw new StoreError('STORE_UNREACHABLE', `${path} can't be reached: ${code}.`, {
      hint: 'Check the path and the rights of this process.',
      cause,
    })
  }
}

function refuseNetwork(path: string, type: number, production: boolean, warn: OpenOptions['warn']): void {
  const network = NETWORKS.get(type) ?? (type === FUSE ? 'FUSE' : undefined)
  if (network === undefined) return
  const message = `${path} is on ${network}, where locks can't be trusted: two instances could run the same fire.`
  if (type === FUSE && !production) {
    warn('STORE_ON_NETWORK', message)
    return
  }
  throw new StoreError('STORE_ON_NETWORK', message, {
    hint: 'Put the file on a local disk; for several machines use PostgreSQL or Redis.',
  })
}

async function requireWritable(path: string, folder: string): Promise<void> {
  for (const [target, needed] of [
    [folder, true],
    [path, false],
  ] as const) {
    try {
      await access(target, constants.R_OK | constants.W_OK)
    } catch (cause) {
      if (!needed && (cause as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw new StoreError('STORE_READONLY', `${target} can't be written by this process.`, {
        hint: 'Let this process write the file and its folder, in which SQLite keeps two files beside it.',
        cause,
      })
    }
  }
}

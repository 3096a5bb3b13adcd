import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** What the machine tells. All processes on it must be told the same, since their leases are compared. */
export interface Host {
  /** Epoch milliseconds: judges what is due. */
  wall(): number
  /** Milliseconds since the machine started, for all its processes alike: judges leases. */
  mono(): number
  /** Another one after every start of the machine: `mono` counts anew. */
  readonly bootId: string
  readonly machineId: string | null
  /** How long a call tries to get the lock. Well below a lease, so that a renewal that fails can be tried again. */
  readonly lockPatienceMs: number
  /** The type number of the file system that a path is on. */
  fileSystem(path: string): Promise<number>
}

export function systemHost(): Host {
  return {
    wall: () => Date.now(),
    mono: () => Number(process.hrtime.bigint() / 1_000_000n),
    // Where there is none, a renewal that lies in the future of `mono` gives an earlier start away.
    bootId: textOf('/proc/sys/kernel/random/boot_id') ?? 'unknown',
    machineId: textOf('/etc/machine-id'),
    lockPatienceMs: 5_000,
    // The number is signed on some machines.
    fileSystem: async (path) => (await statfs(path)).type >>> 0,
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}

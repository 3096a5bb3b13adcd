import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** What the machine reports. It must be the same for all its processes, since their leases are compared. */
export interface Host {
  /** Epoch milliseconds: decides what is due. */
  wall(): number
  /** Milliseconds since the machine started, the same for all its processes: decides about leases. */
  mono(): number
  /** Changes with every start of the machine, when `mono` starts again. */
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
    // Without one, a renewal in the future of `mono` reveals an earlier start.
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

import { execFile } from 'node:child_process'
import { closeSync, globSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SOURCE = join(import.meta.dirname, 'clock-shim.c')
const COMPILERS = ['cc', 'gcc', 'clang']
const LIBFAKETIME = ['/usr/lib/*/faketime/libfaketimeMT.so.1', '/usr/lib{,64}/faketime/libfaketimeMT.so.1']
const DAY_MS = 86_400_000

/** A wall clock that is shared by the processes it is given to, and that can be set. Their monotonic clocks are the host's. */
export interface FakeClock {
  readonly kind: 'shim' | 'libfaketime'
  /** For the processes that shall have it. Their children have it too. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets it forward, or back. In effect on return. */
  step(ms: number): void
  /**
   * From here on it runs at this multiple of real time. `null` with libfaketime, under which each process would count from its own
   * start.
   */
  readonly rate: ((multiple: number) => void) | null
  /** How far it is ahead of the host's, now. */
  offset(): number
  /** Ends all changes. Processes that read this clock keep its current offset. */
  close(): void
}

export interface NoClock {
  /** The reason why no clock is available, as a skipped test reports it. */
  readonly reason: string
}

/** A clock kept in this folder, or why it is not available. */
export async function prepareClock(
  folder: string,
  { compilers = COMPILERS, libraries = LIBFAKETIME } = {},
): Promise<FakeClock | NoClock> {
  if (process.platform !== 'linux') return { reason: 'wall clocks of single processes are set on Linux only' }
  const shim = await compileShim(folder, compilers)
  if (shim !== null) return keepIfItWorks(startShim(shim, join(folder, 'clock')))
  const [library] = globSync(libraries)
  if (library !== undefined) return keepIfItWorks(startLibfaketime(library, join(folder, 'faketime')))
  return { reason: 'setting the clock of a process takes a C compiler or libfaketime' }
}

async function compileShim(folder: string, compilers: readonly string[]): Promise<string | null> {
  const output = join(folder, 'clock-shim.so')
  for (const compiler of compilers) {
    try {
      await run(compiler, ['-std=c11', '-D_GNU_SOURCE', '-O2', '-shared', '-fPIC', '-o', output, SOURCE])
      return output
    } catch {
      // Not there, or without the headers it needs. Perhaps the next.
    }
  }
  return null
}

/** Some programs do not ask the C library for the time, and then neither way has any effect. */
async function keepIfItWorks(clock: FakeClock): Promise<FakeClock | NoClock> {
  clock.step(DAY_MS)
  const env = { ...process.env, ...clock.environment }
  const answer = await run(process.execPath, ['-p', 'Date.now()'], { env }).catch(() => null)
  clock.step(-DAY_MS)
  const isAhead = answer !== null && Math.abs(Number(answer.stdout) - Date.now() - DAY_MS) < DAY_MS / 2
  if (isAhead) return clock
  clock.close()
  return { reason: `Node does not follow the clock of ${clock.kind} here` }
}

const SLOT_BYTES = 32
const SLOT_COUNT = 127

/** Writes what clock-shim.c reads. */
function startShim(library: string, path: string): FakeClock {
  const file = openSync(path, 'w+')
  let slot = -1
  let state = { offsetMs: 0, rate: 1, sinceNs: process.hrtime.bigint() }
  const offset = (nowNs = process.hrtime.bigint()): number =>
    state.offsetMs + ((state.rate - 1) * Number(nowNs - state.sinceNs)) / 1e6

  const change = (next: typeof state): void => {
    state = next
    slot = (slot + 1) % SLOT_COUNT
    const bytes = Buffer.alloc(SLOT_BYTES)
    writeNative(bytes, 0, BigInt(Math.round(state.offsetMs * 1e6)))
    writeNative(bytes, 8, state.sinceNs)
    new Float64Array(bytes.buffer, bytes.byteOffset + 16, 1)[0] = state.rate
    writeSync(file, bytes, 0, SLOT_BYTES, SLOT_BYTES * (1 + slot))
    writeNative(bytes, 0, BigInt(slot))
    writeSync(file, bytes, 0, 8, 0)
  }
  writeSync(file, Buffer.alloc(SLOT_BYTES * (1 + SLOT_COUNT)))
  change(state)
  const shift = (byMs: number, rate: number): void => {
    const sinceNs = process.hrtime.bigint()
    change({ offsetMs: offset(sinceNs) + byMs, rate, sinceNs })
  }
  return {
    kind: 'shim',
    environment: { LD_PRELOAD: library, CRONCE_CLOCK_FILE: path },
    step: (ms) => shift(ms, state.rate),
    rate: (multiple) => shift(0, multiple),
    offset: () => offset(),
    close: () => closeSync(file),
  }
}

/** In the order of bytes that this machine's C has. */
function writeNative(bytes: Buffer, at: number, value: bigint): void {
  new BigInt64Array(bytes.buffer, bytes.byteOffset + at, 1)[0] = value
}

function startLibfaketime(library: string, path: string): FakeClock {
  let offsetMs = 0
  const write = (): void => {
    // By renaming: it is read at every look at the clock, and must never be half there.
    writeFileSync(`${path}.new`, `${offsetMs < 0 ? '' : '+'}${offsetMs / 1000}s`)
    renameSync(`${path}.new`, path)
  }
  write()
  return {
    kind: 'libfaketime',
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1', // Or timers and leases would be moved as well.
    },
    step(ms) {
      offsetMs += ms
      write()
    },
    rate: null,
    offset: () => offsetMs,
    close() {},
  }
}

import type { Duplex } from 'node:stream'
import type { LeaseLeft } from '../../engine/fleet/lease.ts'
import type { RunLease } from '../../engine/parts.ts'
import { FAREWELL_MS, ForcedEnd, forceAfterMs } from '../command/grace.ts'
import { Output } from '../command/output.ts'
import { earlierRuns, environmentFor } from '../command/run-environment.ts'
import { superviseCommand } from '../command/supervise.ts'
import { tellEnd } from '../command/tell-end.ts'
import { ownProgram } from '../own-program.ts'
import type { TargetRun } from '../target-run.ts'
import { Host, orderOf } from './host.ts'
import type { Task } from './isolate-options.ts'
import { readMessages } from './lines.ts'
import type { ToTask } from './messages.ts'
import { ownOptions } from './node-options.ts'
import { outcomeOf } from './target-exited.ts'

/** Under the same supervisor as commands: it does not outlive the scheduler, also while it computes without a pause. */
export async function runInProcess({ file, memoryMb }: Task, run: TargetRun): Promise<unknown> {
  const { signal, graceMs } = run
  signal.throwIfAborted()
  const forced = new AbortController()
  const forcedEnd = new ForcedEnd(() => forced.abort())
  let channel: Duplex | null = null
  const host = new Host(run, {
    send: (message) => write(channel, message),
    onAnswer: () => forcedEnd.within(FAREWELL_MS),
  })
  const abort = (): void => {
    host.abort()
    forcedEnd.within(forceAfterMs(signal.reason, graceMs))
  }
  signal.addEventListener('abort', abort, { once: true })
  const stdout = new Output((line) => run.log.info(line))
  const stderr = new Output((line) => run.log.warn(line))
  const memory = memoryMb === null ? [] : [`--max-old-space-size=${memoryMb}`]
  try {
    const end = await superviseCommand(
      {
        file: process.execPath,
        args: [...ownOptions(), ...memory, ownProgram('process-main', import.meta.url)],
        env: environmentFor(run),
        ...earlierRuns(run),
      },
      {
        signal: forced.signal,
        // It was asked before, in its own way: by its run's signal.
        graceMs: 0,
        lease: run.lease && patient(run.lease),
        output: (stream, chunk) => (stream === 'stdout' ? stdout : stderr).write(chunk),
        onChannel: (opened) => {
          channel = opened.on('error', () => {})
          readMessages(opened, (message) => host.receive(message))
          write(opened, { kind: 'order', order: orderOf(file, run) })
        },
      },
    )
    stdout.end()
    stderr.end()
    tellEnd(run, end)
    return outcomeOf(host, signal, file, { ...end, uncaught: host.uncaught })
  } finally {
    signal.removeEventListener('abort', abort)
    forcedEnd.cancel()
  }
}

/** A task is asked to end by its run's signal, if its scheduler can: it has all the time until it must be gone. */
function patient(lease: RunLease): RunLease {
  const left = (): LeaseLeft => {
    const { trustMs, spareMs, clock } = lease.left()
    return { trustMs: trustMs + spareMs, spareMs: 0, clock }
  }
  return { left, onChange: (tell) => lease.onChange(tell), lost: () => lease.lost() }
}

/** What can't be written is for a task that is gone. */
function write(channel: Duplex | null, message: ToTask): void {
  if (channel?.writable === true) channel.write(`${JSON.stringify(message)}\n`)
}

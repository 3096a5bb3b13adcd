import { Worker } from 'node:worker_threads'
import { FAREWELL_MS, ForcedEnd, forceAfterMs } from '../command/grace.ts'
import { Output } from '../command/output.ts'
import { tellDeadlines } from '../lease-deadline.ts'
import { ownProgram } from '../own-program.ts'
import type { TargetRun } from '../target-run.ts'
import { Host, orderOf } from './host.ts'
import type { Task } from './isolate-options.ts'
import { outcomeOf } from './target-exited.ts'
import { isOver, leaseCells, writeDeadline } from './thread-lease.ts'
import type { ThreadData } from './thread-main.ts'

export async function runInThread({ file, memoryMb }: Task, run: TargetRun): Promise<unknown> {
  const { signal, graceMs } = run
  signal.throwIfAborted()
  const lease = leaseCells()
  const worker = new Worker(ownProgram('thread-main', import.meta.url), {
    workerData: { order: orderOf(file, run), lease } satisfies ThreadData,
    stdout: true,
    stderr: true,
    name: run.fire.job,
    ...(memoryMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
  })
  const unwatch = run.lease ? tellDeadlines(run.lease, (deadline) => writeDeadline(lease, deadline)) : () => {}
  // Its end is what is waited for, however it comes.
  const end = new ForcedEnd(() => void worker.terminate())
  const host = new Host(run, {
    send: (message) => worker.postMessage(message),
    onAnswer: () => end.within(FAREWELL_MS),
  })
  const abort = (): void => {
    host.abort()
    end.within(forceAfterMs(signal.reason, graceMs))
  }
  let uncaught: Error | null = null
  worker.on('error', (error) => {
    uncaught = error instanceof Error ? error : new Error(String(error))
  })
  worker.on('message', (message) => host.receive(message))
  const outputs = [
    record(worker.stdout, (line) => run.log.info(line)),
    record(worker.stderr, (line) => run.log.warn(line)),
  ]
  signal.addEventListener('abort', abort, { once: true })
  const exitCode = await exitOf(worker)
  signal.removeEventListener('abort', abort)
  end.cancel()
  unwatch()
  // Its thread may have been the first to know.
  if (host.answer?.kind !== 'returned' && isOver(lease)) run.lease?.lost()
  for (const output of outputs) output.end()
  return outcomeOf(host, signal, file, { exitCode, signal: null, uncaught })
}

function record(stream: NodeJS.ReadableStream, log: (line: string) => void): Output {
  const output = new Output(log)
  stream.on('data', (chunk: Buffer) => output.write(chunk))
  return output
}

function exitOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => worker.once('exit', resolve))
}

/**
 * A program that has used up its file descriptors, for tests that bound them. It reports the outcome of a command and
 * of a task.
 */
import { openSync } from 'node:fs'
import { commandHandler } from '../../src/target/command/command-handler.ts'
import { isolatedHandler } from '../../src/target/isolate/isolated-handler.ts'
import { targetRun } from './http-run.ts'
import { TASK } from './kit.ts'

const handlers = [
  commandHandler('work', { command: ['true'] }),
  isolatedHandler('work', { file: TASK, isolate: 'process' }),
]
// As an app does when it starts.
for (const handler of handlers) await handler.load()
const use = (): boolean => {
  try {
    return openSync('/dev/null', 'r') > 0
  } catch {
    return false
  }
}
while (use());
const codes: unknown[] = []
for (const handler of handlers) {
  await handler(targetRun()).catch((error: unknown) => codes.push((error as { readonly code?: unknown }).code))
}
// An unhandled error would have ended the process by now.
await new Promise((resolve) => setTimeout(resolve, 100))
process.stdout.write(JSON.stringify(codes))

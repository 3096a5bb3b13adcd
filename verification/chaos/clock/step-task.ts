/** A task in a thread or a process that runs until the file that its input names exists. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../../../packages/cronce/src/index.ts'

// biome-ignore lint/style/noDefaultExport: the target loads the default export of a task.
export default async function run({ fire, signal }: Run<{ readonly until: string }>): Promise<void> {
  while (!existsSync(fire.input.until)) await sleep(50, undefined, { signal })
}

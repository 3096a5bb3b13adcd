/** A task that reports its progress: its first run never ends and ignores its signal, the next one is short. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../../src/index.ts'

// biome-ignore lint/style/noDefaultExport: that is what a task is.
export default async ({ fire, token, attempt }: Run): Promise<void> => {
  const { file } = fire.input as { readonly file: string }
  for (let tick = 0; attempt === 1 || tick < 2; tick++) {
    appendFileSync(file, `${token} ${process.pid}\n`)
    await sleep(100)
  }
}

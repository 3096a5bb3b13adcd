import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A program in a process of its own, and what it printed. */
export class NestProcess {
  readonly child: ChildProcess
  readonly #ended: Promise<unknown>
  output = ''

  constructor(file: string, environment: Readonly<Record<string, string | undefined>>) {
    const env = { ...process.env, NO_COLOR: '1', ...environment }
    this.child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#ended = once(this.child, 'close')
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
  }

  /** The due times on lines that begin with the word. */
  dueTimes(word: string): readonly number[] {
    return [...this.output.matchAll(new RegExp(`^${word} (\\S+)$`, 'gm'))].map(([, due]) => Date.parse(due!))
  }

  /** Returns the exit code, or the signal that ended it. */
  async end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
    if (signal !== undefined) this.child.kill(signal)
    await this.#ended
    return this.child.exitCode ?? this.child.signalCode
  }
}

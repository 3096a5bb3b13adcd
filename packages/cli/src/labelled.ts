import type { Io } from './io.ts'
import { sanitize, wrap } from './terminal.ts'

const WIDTH = 120

/** Lines with a label before them, for commands that tell everything about one thing. */
export class Labelled {
  readonly #lines: string[] = []
  readonly #io: Io
  readonly #labelWidth: number

  constructor(io: Io, labelWidth: number) {
    this.#io = io
    this.#labelWidth = labelWidth
  }

  /** Text that is wrapped. Nothing is said of what is `null`. */
  row(label: string, text: string | null): void {
    if (text === null) return
    const width = Math.max(40, Math.min(WIDTH, this.#io.columns ?? WIDTH))
    const indent = ' '.repeat(this.#labelWidth)
    this.#lines.push(this.#label(label) + wrap(sanitize(text), width, indent))
  }

  /** Lines that are painted already, and stay as they are. */
  lines(label: string, lines: readonly string[]): void {
    lines.forEach((line, index) => {
      this.#lines.push((this.#label(index === 0 ? label : '') + line).trimEnd())
    })
  }

  heading(text: string): void {
    this.#lines.push('', this.#io.paint('bold', sanitize(text)))
  }

  /** A line as it is. */
  line(text: string): void {
    this.#lines.push(text)
  }

  print(): void {
    this.#io.out(`${this.#lines.join('\n')}\n`)
  }

  #label(text: string): string {
    return this.#io.paint('dim', text.padEnd(this.#labelWidth))
  }
}

import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Slice } from './parts.ts'

/** What is kept of a slice that ran to its end, in a file of its own. Together these files are the state of a long run. */
export interface SliceResult {
  readonly part: string
  readonly slice: string
  readonly command: string
  readonly commit: string
  /** Of the code that was judged, committed or not. */
  readonly code: string
  readonly startedAt: string
  readonly seconds: number
  readonly exitCode: number
  /** What the command printed with `--json`; text otherwise. */
  readonly output: unknown
}

export class Results {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = join(folder, 'slices')
    mkdirSync(this.#folder, { recursive: true })
  }

  find({ part, name }: Slice): SliceResult | null {
    const file = this.#fileOf(part, name)
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
  }

  /** Renamed into place, so that an interrupted write leaves no half result. */
  keep(result: SliceResult): void {
    const file = this.#fileOf(result.part, result.slice)
    writeFileSync(`${file}.part`, `${JSON.stringify(result, null, 1)}\n`)
    renameSync(`${file}.part`, file)
  }

  all(): readonly SliceResult[] {
    return readdirSync(this.#folder)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => JSON.parse(readFileSync(join(this.#folder, file), 'utf8')))
  }

  #fileOf(part: string, slice: string): string {
    return join(this.#folder, `${part}.${slice}.json`)
  }
}

/** A result is taken over by `--resume` if it is good and judged the code of now. */
export function isStillGood(result: SliceResult | null, code: string): boolean {
  return result !== null && result.exitCode === 0 && result.code === code
}

/** What the results depend on: equal for equal sources, whatever else a commit changes. */
export function hashCode(root: string): string {
  const hash = createHash('sha256')
  for (const file of globSync(['packages/*/src/**/*.*', 'verification/**/*.*'], { cwd: root }).sort()) {
    hash.update(file).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex').slice(0, 16)
}

/** A JSON text, or the text itself. */
export function readOutput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

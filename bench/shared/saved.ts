import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Measured, measuredNow } from '../../scripts/reports/report.ts'

interface SavedPart {
  readonly commit: string
  readonly at: string
  readonly load: readonly number[]
  readonly results: unknown
}

/** What has been measured, part by part. With a file, a run that was interrupted goes on where it was. */
export class Saved {
  readonly #file: string | undefined
  readonly #parts: Record<string, SavedPart>

  constructor(file?: string) {
    this.#file = file
    this.#parts = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  }

  has(part: string): boolean {
    return this.#parts[part] !== undefined
  }

  keep(part: string, results: unknown): void {
    const { commit, at, load } = measuredNow(part)
    this.#parts[part] = { commit, at, load, results }
    if (this.#file === undefined) return
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(this.#parts, entriesOfMaps))
  }

  results(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this.#parts).map(([part, { results }]) => [part, results]))
  }

  measured(): readonly Measured[] {
    return Object.entries(this.#parts).map(([part, { commit, at, load }]) => ({ part, commit, at, load }))
  }

  /** Which commit each part was measured at, when, and beside how much other load. */
  origin(): string {
    return Object.entries(this.#parts)
      .map(([part, { commit, at, load }]) => {
        return `- ${part}: commit ${commit}, ${at.slice(0, 16)}Z, load average ${load.map((one) => one.toFixed(1)).join(' ')} at its end`
      })
      .join('\n')
  }
}

/** Reports iterate over maps, and read entries the same way. */
function entriesOfMaps(_: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value
}

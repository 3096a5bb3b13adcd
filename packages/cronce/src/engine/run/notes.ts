import { cut, LIMITS } from '../../model/limits.ts'
import type { LogLine, Progress } from '../../model/record.ts'
import type { Annotation, RunKey } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { wasForgotten } from '../restore/forgotten-run.ts'
import { callStore } from '../store-calls.ts'
import { aboutRun, type LocalRun } from './run-table.ts'

interface Notes {
  readonly run: LocalRun
  progress: Progress | null
  readonly log: LogLine[]
  size: number
  cut: boolean
  dirty: boolean
  /** Whether the log already warns that a percentage is not a fraction. */
  warned: boolean
}

/** A sum of fractions may exceed 1 by a rounding error. */
const HIGHEST = 1.01
const PAUSE_MS = 1_000

/** Keeps the progress and the log of runs, and writes them at most once a second, those of all runs together. */
export class NoteKeeper {
  readonly #core: Core
  readonly #all = new Map<LocalRun, Notes>()
  #writing = false

  constructor(core: Core) {
    this.#core = core
  }

  progress(run: LocalRun, fraction: number, message: string | null): void {
    // Reports of a handler after its end are not recorded: they would be kept forever.
    if (run.ended) return
    const notes = this.#of(run)
    const bounded = Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0
    if (fraction > HIGHEST && !notes.warned) {
      notes.warned = true
      const meant = fraction <= 100 ? `; write ${fraction / 100}` : ''
      this.log(run, 'warn', `run.progress(${fraction}) was recorded as 1: it takes a fraction from 0 to 1${meant}.`)
    }
    const text = message === null ? null : cut(String(message), LIMITS.note)
    notes.progress = { fraction: bounded, message: text, at: this.#core.time.estimate() }
    this.#touch(notes)
  }

  log(run: LocalRun, level: LogLine['level'], message: string): void {
    if (run.ended) return
    const notes = this.#of(run)
    if (notes.cut) return
    const text = cut(message, LIMITS.logLine)
    notes.size += text.length
    notes.cut = notes.size > LIMITS.log
    if (!notes.cut) notes.log.push({ at: this.#core.time.estimate(), level, message: text })
    this.#touch(notes)
  }

  /** Whether this run has reported progress or logged anything. */
  has(run: LocalRun): boolean {
    return this.#all.has(run)
  }

  /** Writes the notes of this run so far. */
  async save(run: LocalRun): Promise<void> {
    const notes = this.#all.get(run)
    if (notes?.dirty === true) await this.#write([notes])
  }

  /** Writes the notes of this run and drops them. Call it right before the run settles, which is the last chance. */
  async flush(run: LocalRun): Promise<void> {
    await this.save(run)
    this.#all.delete(run)
  }

  #of(run: LocalRun): Notes {
    const known = this.#all.get(run)
    if (known !== undefined) return known
    const notes: Notes = { run, progress: null, log: [], size: 0, cut: false, dirty: false, warned: false }
    this.#all.set(run, notes)
    return notes
  }

  #touch(notes: Notes): void {
    notes.dirty = true
    if (!this.#writing) void this.#writeSoon()
  }

  // Caught inside: a note that can't be written now is written with the next one, or before the run settles.
  async #writeSoon(): Promise<void> {
    this.#writing = true
    await this.#core.parts.clock.sleep(PAUSE_MS, this.#core.stopped)
    this.#writing = false
    await this.#write([...this.#all.values()].filter(({ dirty }) => dirty))
  }

  async #write(notes: readonly Notes[]): Promise<void> {
    const core = this.#core
    if (notes.length === 0) return
    for (const note of notes) note.dirty = false
    try {
      const { stale } = await callStore(core, 'annotate', () => core.parts.store.annotate(notes.map(toAnnotation)))
      for (const note of notes) if (stale.some((key) => isRun(note.run, key))) await this.#refuse(note)
    } catch (error) {
      for (const note of notes) note.dirty = true
      core.storeFailed('annotate', describeError(error), PAUSE_MS)
    }
  }

  async #refuse(notes: Notes): Promise<void> {
    const { run } = notes
    if (run.settling || run.signal.aborted) return
    if (await wasForgotten(this.#core, run.started.record.schedule)) return this.#touch(notes)
    if (run.settling || run.signal.aborted) return
    this.#core.parts.emit({ type: 'run.fenced', refused: 'progress', ...aboutRun(run) })
    run.abort('fenced', null)
  }
}

function isRun({ started }: LocalRun, { schedule, token }: RunKey): boolean {
  return started.record.schedule === schedule && started.record.token === token
}

function toAnnotation({ run, progress, log, cut }: Notes): Annotation {
  const { schedule, token } = run.started.record
  return { schedule, token, progress, log: [...log], logCut: cut }
}

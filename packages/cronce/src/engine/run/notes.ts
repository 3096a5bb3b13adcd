import { cut, LIMITS } from '../../model/limits.ts'
import type { LogLine, Progress } from '../../model/record.ts'
import type { Annotation } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { describeError } from '../describe-error.ts'
import { wasForgotten } from '../restore/forgotten-run.ts'
import { callStore } from '../store-calls.ts'
import { aboutRun, type LocalRun } from './run-table.ts'

/** Keeps what runs tell, and writes it at most once a second, all runs together. */
export interface NoteKeeper {
  progress(run: LocalRun, fraction: number, message: string | null): void
  log(run: LocalRun, level: LogLine['level'], message: string): void
  /** Whether this run has told anything. */
  has(run: LocalRun): boolean
  /** Write what this run has told so far. */
  save(run: LocalRun): Promise<void>
  /** The same, and forget it: its last chance, right before it settles. */
  flush(run: LocalRun): Promise<void>
}

interface Notes {
  readonly run: LocalRun
  progress: Progress | null
  readonly log: LogLine[]
  size: number
  cut: boolean
  dirty: boolean
}

const PAUSE_MS = 1_000

export function noteKeeper(core: Core): NoteKeeper {
  const all = new Map<LocalRun, Notes>()
  let writing = false

  const of = (run: LocalRun): Notes => {
    const known = all.get(run)
    if (known !== undefined) return known
    const notes: Notes = { run, progress: null, log: [], size: 0, cut: false, dirty: false }
    all.set(run, notes)
    return notes
  }

  const touch = (notes: Notes): void => {
    notes.dirty = true
    if (!writing) void writeSoon()
  }

  // Caught inside: a note that can't be written now is written with the next one, or before the run settles.
  const writeSoon = async (): Promise<void> => {
    writing = true
    await core.parts.clock.sleep(PAUSE_MS, core.stopped)
    writing = false
    await write([...all.values()].filter(({ dirty }) => dirty))
  }

  const write = async (notes: readonly Notes[]): Promise<void> => {
    if (notes.length === 0) return
    for (const note of notes) note.dirty = false
    try {
      const { stale } = await callStore(core, 'annotate', () => core.parts.store.annotate(notes.map(toAnnotation)))
      for (const note of notes) if (stale.includes(note.run.started.record.token)) await refuse(note)
    } catch (error) {
      for (const note of notes) note.dirty = true
      core.storeFailed('annotate', describeError(error), PAUSE_MS)
    }
  }

  const save = async (run: LocalRun): Promise<void> => {
    const notes = all.get(run)
    if (notes?.dirty === true) await write([notes])
  }

  const refuse = async (notes: Notes): Promise<void> => {
    const { run } = notes
    if (run.settling || run.signal.aborted) return
    if (await wasForgotten(core, run.started.record.schedule)) return touch(notes)
    if (run.settling || run.signal.aborted) return
    core.parts.emit({ type: 'run.fenced', refused: 'progress', ...aboutRun(run) })
    run.abort('fenced', null)
  }

  return {
    progress(run, fraction, message) {
      // What a handler tells after its end is on no record, and would be kept for ever.
      if (run.ended) return
      const notes = of(run)
      const bounded = Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0
      const text = message === null ? null : cut(String(message), LIMITS.note)
      notes.progress = { fraction: bounded, message: text, at: core.time.estimate() }
      touch(notes)
    },
    log(run, level, message) {
      if (run.ended) return
      const notes = of(run)
      if (notes.cut) return
      const text = cut(message, LIMITS.logLine)
      notes.size += text.length
      notes.cut = notes.size > LIMITS.log
      if (!notes.cut) notes.log.push({ at: core.time.estimate(), level, message: text })
      touch(notes)
    },
    has: (run) => all.has(run),
    save,
    async flush(run) {
      await save(run)
      all.delete(run)
    },
  }
}

function toAnnotation({ run, progress, log, cut }: Notes): Annotation {
  const { schedule, token } = run.started.record
  return { schedule, token, progress, log: [...log], logCut: cut }
}

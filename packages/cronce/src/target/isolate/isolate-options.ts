import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalid, readChoice, readFields, readInteger } from '../../client/read-option.ts'
import { CronceError } from '../../errors.ts'

/** A file as the target of a job, in a thread or a process. */
export interface IsolateOptions {
  /** A module whose default export is the handler: a URL, or a path, from the working directory if it is relative. */
  readonly file: string | URL
  /** Where it runs: in a thread, or in a process. Either is made for one run, and ended with it. @default 'thread' */
  readonly isolate?: 'thread' | 'process' | undefined
  /** How much memory its JavaScript may take, from 16 MB. @default what Node allows */
  readonly memoryMb?: number | undefined
}

export interface Task {
  /** Absolute. */
  readonly file: string
  readonly isolate: 'thread' | 'process'
  readonly memoryMb: number | null
}

export const ISOLATE_NAMES = ['file', 'isolate', 'memoryMb'] as const satisfies readonly (keyof IsolateOptions)[]

export function resolveTask(job: string, options: unknown): Task {
  const given = readFields('', options, ISOLATE_NAMES, "{ file: './tasks/backup.js' }")
  const { memoryMb } = given
  return Object.freeze({
    file: readFile(job, given.file),
    isolate: readChoice('isolate', given.isolate ?? 'thread', ['thread', 'process']),
    memoryMb: memoryMb === undefined ? null : readInteger('memoryMb', memoryMb, { min: 16, max: 1_048_576 }),
  })
}

function readFile(job: string, value: unknown): string {
  const file = pathOf(value)
  if (file === null) throw invalid('file', value, 'a path or a file URL', "'./tasks/backup.js'")
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) return file
  throw new CronceError('FILE_MISSING', `There is no file ${file} for job ${JSON.stringify(job)}.`, {
    hint: "A relative path begins in the working directory: for a file beside your code write new URL('./backup.js', import.meta.url).",
  })
}

function pathOf(value: unknown): string | null {
  try {
    if (value instanceof URL) return fileURLToPath(value)
    if (typeof value !== 'string' || value === '') return null
    return value.startsWith('file:') ? fileURLToPath(value) : resolve(value)
  } catch {
    return null
  }
}

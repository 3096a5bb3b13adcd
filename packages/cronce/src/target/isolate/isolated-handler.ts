import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalid, readChoice, readFields, readInteger } from '../../client/read-option.ts'
import { CronceError } from '../../errors.ts'
import type { TargetRun } from '../target-run.ts'
import type { Task } from './messages.ts'
import { runInProcess } from './process.ts'
import { runInThread } from './thread.ts'

export interface IsolateOptions {
  /** A module whose default export is the handler: a URL, or a path, from the working directory if it is relative. */
  readonly file: string | URL
  /** Where it runs: in a thread, or in a process. Either is made for one run, and ended with it. @default 'thread' */
  readonly isolate?: 'thread' | 'process' | undefined
  /** How much memory its JavaScript may take, from 16 MB. @default what Node allows */
  readonly memoryMb?: number | undefined
}

export const ISOLATE_NAMES = ['file', 'isolate', 'memoryMb'] as const satisfies readonly (keyof IsolateOptions)[]

/** A module as the target of a job, apart from the scheduler: whatever it does, that goes on. */
export function isolatedHandler(job: string, options: IsolateOptions): (run: TargetRun) => Promise<unknown> {
  const given = readFields('', options, ISOLATE_NAMES, "{ file: './tasks/backup.js' }")
  const isolate = readChoice('isolate', given.isolate ?? 'thread', ['thread', 'process'])
  const memoryMb =
    given.memoryMb === undefined ? null : readInteger('memoryMb', given.memoryMb, { min: 16, max: 1_048_576 })
  const task: Task = { file: readFile(job, given.file), memoryMb }
  return isolate === 'thread' ? (run) => runInThread(task, run) : (run) => runInProcess(task, run)
}

function readFile(job: string, value: unknown): string {
  const file = pathOf(value)
  if (file === null) throw invalid('file', value, 'a path or a file URL', "'./tasks/backup.js'")
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) return file
  throw new CronceError('FILE_MISSING', `There is no file ${file} for job ${JSON.stringify(job)}.`, {
    hint: 'Relative paths begin in the working directory: write new URL("./tasks/backup.js", import.meta.url) for one beside your code.',
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

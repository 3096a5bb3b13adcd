import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CronceError } from 'cronce/cron'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'

export interface Source {
  /** As it was named. */
  readonly file: string
  readonly text: string
}

/** No crontab, manifest or calendar is as large; what is, is the wrong file. */
const LARGEST = 16 * 1024 * 1024

const SAMPLES = {
  crontab: 'crontab -l | cronce import crontab',
  k8s: 'cronce import k8s cronjobs.yaml',
  ical: 'cronce import ical holidays.ics',
} as const

/** The texts to import: files, or stdin for `-`. */
export async function readSources(
  kind: 'crontab' | 'k8s' | 'ical',
  files: readonly string[],
  io: Io,
): Promise<Source[]> {
  const twice = files.find((file, index) => files.indexOf(file) !== index)
  if (kind === 'crontab' && twice !== undefined) {
    throw new UsageError(`${twice} is named twice.`, 'Name the crontab of each server once.')
  }
  if (files.length === 0 && (kind === 'k8s' || io.ask !== null)) {
    const sample = SAMPLES[kind]
    throw new UsageError('Import which file?', `Try: ${sample}`)
  }
  const names = files.length === 0 ? ['-'] : files
  const sources: Source[] = []
  for (const name of names) sources.push({ file: name, text: await readText(name, io) })
  return sources
}

async function readText(name: string, io: Io): Promise<string> {
  const text = name === '-' ? await io.readInput() : await readNamed(resolve(io.cwd, name), name)
  if (text.length <= LARGEST && !text.includes('\0')) return text
  throw new CronceError(
    'FILE_UNREADABLE',
    `${name} is binary or too large to be a crontab, a manifest or a calendar.`,
    {
      hint: 'Look whether it is the right file.',
    },
  )
}

async function readNamed(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') {
      throw new CronceError('FILE_NOT_FOUND', `There is no file ${name}.`, { hint: 'Check the path.', cause })
    }
    throw new CronceError('FILE_UNREADABLE', `${name} can't be read: ${message}`, { hint: 'Check its rights.', cause })
  }
}

/** Where lines have a user before the command. */
export function isSystemCrontab(file: string): boolean {
  return /(^|\/)etc\/(crontab|cron\.d\/[^/]+)$/.test(file)
}

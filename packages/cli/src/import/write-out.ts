import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CronceError } from 'cronce/cron'
import type { Io } from '../io.ts'

/** Write a file that is not there yet, or replace it if that is wanted. Answers what it is called. */
export async function writeOut(file: string, text: string, { force }: { force: boolean }, io: Io): Promise<string> {
  try {
    await writeFile(resolve(io.cwd, file), text, { flag: force ? 'w' : 'wx' })
    return file
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      throw new CronceError('FILE_EXISTS', `${file} is there already.`, {
        hint: 'Name another, or add --force.',
        cause,
      })
    }
    throw new CronceError('FILE_UNWRITABLE', `${file} can't be written: ${message}`, {
      hint: 'Check the folder and its rights.',
      cause,
    })
  }
}

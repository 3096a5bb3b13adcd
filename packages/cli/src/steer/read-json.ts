import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Json } from 'cronce'
import { CronceError } from 'cronce/cron'
import type { Io } from '../io.ts'
import { jsonPlace } from '../json-place.ts'
import { UsageError } from '../usage-error.ts'

/** What the library takes is 64 KB; a file far beyond is a mistake that need not be read. */
const MOST_BYTES = 1_000_000
const DEEPEST = 64

/** JSON of a flag: as it stands, from `@FILE`, or with `@-` from stdin. */
export async function readJson(given: string, flag: string, io: Io): Promise<Json> {
  const where = given.startsWith('@') ? given.slice(1) : flag
  const text = given === '@-' ? await io.readInput() : given.startsWith('@') ? readText(where, io) : given
  if (text.length > MOST_BYTES) throw tooLarge()
  // Deeper than any stack: what reads and writes JSON would not come back.
  if (depthOf(text) > DEEPEST) throw tooDeep()
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    const place = jsonPlace(text, (error as SyntaxError).message)
    throw new UsageError(
      `${where === '-' ? 'The input' : where}${place} is not JSON.`,
      'Write {"key": "value"}, "text" in quotes, or @FILE.',
    )
  }
}

function readText(name: string, { cwd }: Io): string {
  const file = resolve(cwd, name)
  try {
    return new TextDecoder('utf8', { fatal: true }).decode(readAtMost(file, MOST_BYTES))
  } catch (error) {
    if (error instanceof CronceError) throw error
    const why = error instanceof TypeError ? 'it is not UTF-8' : (error as Error).message
    throw new UsageError(`${file} can't be read: ${why}.`, 'Name a file with JSON in it.')
  }
}

/** A device or a pipe may never end: what is too much is not waited for. */
function readAtMost(file: string, most: number): Buffer {
  const bytes = Buffer.alloc(most + 1)
  const descriptor = openSync(file, 'r')
  try {
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    }
    if (length > most) throw tooLarge()
    return bytes.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** How deep brackets nest, outside of strings. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isString = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (isString && char === '\\') i++
    else if (char === '"') isString = !isString
    else if (isString) continue
    else if (char === '[' || char === '{') deepest = Math.max(deepest, ++depth)
    else if (char === ']' || char === '}') depth--
  }
  return deepest
}

function tooDeep(): CronceError {
  return new CronceError('INPUT_INVALID', `The input is nested deeper than ${DEEPEST} levels.`, {
    hint: 'Make it flatter, or store it elsewhere and give its key.',
  })
}

function tooLarge(): CronceError {
  return new CronceError('INPUT_TOO_LARGE', 'The input is larger than 64 KB.', {
    hint: 'Store large data elsewhere and give its key.',
  })
}

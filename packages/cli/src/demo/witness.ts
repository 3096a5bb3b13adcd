import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What a handler wrote down by itself, outside of the store: one write(2) a line, so that it outlives `kill -9`. */
export interface Line {
  readonly what: 'started' | 'ended' | 'threw' | 'refused'
  readonly schedule: string
  readonly dueAt: number
  readonly token: string
}

const SUFFIX = '.witness'

export function witnessPath(folder: string, pid: number | string): string {
  return join(folder, `${pid}${SUFFIX}`)
}

export function openWitness(path: string): (line: Line) => void {
  const file = openSync(path, 'a')
  return ({ what, schedule, dueAt, token }) => void writeSync(file, `${what} ${schedule} ${dueAt} ${token}\n`)
}

export function readWitnesses(folder: string): Line[] {
  return (
    readdirSync(folder)
      .filter((name) => name.endsWith(SUFFIX))
      // Whose last line has no end yet is still being written to.
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
      .map((text) => {
        const [what, schedule, dueAt, token] = text.split(' ') as [Line['what'], string, string, string]
        return { what, schedule, dueAt: Number(dueAt), token }
      })
  )
}

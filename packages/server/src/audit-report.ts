import { readFile, stat } from 'node:fs/promises'

/** Reports are some hundred kilobytes; a file beyond this is none. */
const MOST_BYTES = 8 * 1024 * 1024

/** The report of the option `audit`, as far as it can be read. */
export interface AuditReport {
  /** The SARIF log; `null`: there is none, or it cannot be read. */
  readonly report: unknown
  /** When the file was written. */
  readonly writtenAt: number | null
  /** Why it cannot be read. */
  readonly problem: string | null
}

/** Reads the file each time: CI may replace it while the server runs. */
export async function auditReport(file: string | null): Promise<AuditReport> {
  if (file === null) return { report: null, writtenAt: null, problem: null }
  try {
    const { size, mtimeMs } = await stat(file)
    const writtenAt = Math.round(mtimeMs)
    if (size > MOST_BYTES)
      return { report: null, writtenAt, problem: `The report has ${size} bytes: ${MOST_BYTES} at most.` }
    return { report: JSON.parse(await readFile(file, 'utf8')), writtenAt, problem: null }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = isMissing
      ? 'The server has no file at the path of its option audit.'
      : 'The report is not JSON, or the server may not read it.'
    return { report: null, writtenAt: null, problem }
  }
}

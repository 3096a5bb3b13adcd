import type { Paint } from './terminal.ts'

/** Where a command prints, whom it can ask, and what it may know of the world. Tests make their own. */
export interface Io {
  /** Data. */
  readonly out: (text: string) => void
  /** Everything else. */
  readonly err: (text: string) => void
  readonly paint: Paint
  readonly paintErr: Paint
  readonly now: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether stdout is a terminal. */
  readonly isTTY: boolean
  /** Whether stderr is one: progress that overwrites itself is for people who watch. */
  readonly isErrTTY: boolean
  /** The width of the terminal; `null`: there is no terminal, and lines are not cut. */
  readonly columns: number | null
  /** Ask a question, on stderr, and read one line. `null`: there is no terminal to ask on. */
  readonly ask: ((question: string) => Promise<string>) | null
  /** All of stdin. */
  readonly readInput: () => Promise<string>
  /**
   * Aborted by the first SIGINT, SIGTERM or SIGHUP; the second ends the process at once. Only a command that reads this property takes
   * the signals upon itself: any other ends at once, as a program without handlers does.
   */
  readonly signal: AbortSignal
}

import type { Group } from './commands/command.ts'
import { COMMANDS } from './commands/index.ts'
import { EXIT } from './exit-code.ts'

interface Errand {
  readonly argv: readonly string[]
  readonly stream: 'stdout' | 'stderr'
  readonly error: { readonly code?: string | undefined; readonly message: string }
}

export interface Way {
  /** End the process with this code; `null`: go on. */
  readonly exit: number | null
  /** To be said on stderr. */
  readonly words: string | null
}

const GO_ON: Way = { exit: null, words: null }
const PRINTING: readonly Group[] = ['see', 'offline']

/** What to do when a stream can't be written any more. */
export function onStreamError({ argv, stream, error }: Errand): Way {
  const group = groupOf(argv)
  // The reader of the log may die before the process that runs jobs; and an error of stderr can't be reported anywhere.
  if (group === 'run' || stream === 'stderr') return GO_ON
  if (error.code !== 'EPIPE') {
    return { exit: EXIT.failed, words: `The output cannot be written: ${error.message}` }
  }
  // `cronce next ... | head -1` closes the pipe early; that is not an error of ours. What changes or judges something goes on to its
  // end, and has its own exit code.
  const isPrinting = group === null || (PRINTING.includes(group) && !argv.includes('--verify'))
  return isPrinting ? { exit: EXIT.ok, words: null } : GO_ON
}

function groupOf([name]: readonly string[]): Group | null {
  const entry = COMMANDS.find((candidate) => candidate.name === name || candidate.aliases?.includes(name ?? ''))
  return entry?.group ?? null
}

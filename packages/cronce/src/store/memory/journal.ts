/** How to undo what was written since the journal was opened. Shared by everything of one source; closed most of the time. */
export interface Journal {
  undo: (() => void)[] | null
}

/**
 * Run `write`, and undo its writes unless it returns true; also if it throws. Synchronous, so that no reader sees undone writes.
 */
export function attempt(journal: Journal, write: () => boolean): boolean {
  const undo: (() => void)[] = []
  journal.undo = undo
  let kept = false
  try {
    kept = write()
  } finally {
    journal.undo = null
    if (!kept) for (const step of undo.reverse()) step()
  }
  return kept
}

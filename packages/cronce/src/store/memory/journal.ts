/** How to take back what was written since it was opened. Shared by all that one source holds; closed most of the time. */
export interface Journal {
  undo: (() => void)[] | null
}

/**
 * Run `write`, and take back all that it wrote unless it answers true; also if it throws. Synchronous, so that no reader sees
 * what is taken back.
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

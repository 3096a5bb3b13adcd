/**
 * What `flock` in a command does about the one before that still runs: gives up, waits for it, or (a lock that is shared)
 * neither. `null`: there is none.
 */
export function flockOf(command: string): 'gives-up' | 'waits' | 'shares' | null {
  const [, rest] = /(?:^|[\s;&|(/])flock(?=\s)(.*)/s.exec(command) ?? []
  if (rest === undefined) return null
  // Options end where the file or the descriptor begins; what follows belongs to the program.
  const [flags = ''] = /^(\s+(-[wE]\s*\S+|--(timeout|wait|conflict-exit-code)\s+\S+|-\S+))*/.exec(rest) ?? []
  if (/\s(--(nb|nonblock|nonblocking)|-[a-zA-Z]*n[a-zA-Z]*)(\s|$)/.test(flags)) return 'gives-up'
  return /\s(--shared|-[a-zA-Z]*s[a-zA-Z]*)(\s|$)/.test(flags) ? 'shares' : 'waits'
}

/** What `dev` and the process that runs the jobs for it say to each other. */
export type ToChild = { readonly kind: 'fire'; readonly schedule: string }

export type FromChild =
  /** Files of the user's that were loaded, in addition to those told before. */
  | { readonly kind: 'loaded'; readonly files: readonly string[] }
  /** It runs; these can be fired. */
  | { readonly kind: 'started'; readonly schedules: readonly string[] }

export function isFromChild(message: unknown): message is FromChild {
  return typeof message === 'object' && message !== null && 'kind' in message
}

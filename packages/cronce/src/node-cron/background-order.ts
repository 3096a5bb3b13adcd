/** What the process of a background task must know; all of it can be JSON. */
export interface BackgroundOrder {
  /** It exports `task`. */
  readonly file: string
  readonly date: number
  readonly dateLocalIso: string
  readonly triggeredAt: number
  readonly task: { readonly id: string; readonly name: string; readonly pattern: string }
  readonly execution: {
    readonly id: string
    readonly reason: 'invoked' | 'scheduled'
    readonly startedAt: number | null
  }
}

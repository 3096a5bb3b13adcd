/** Something that must never be. `name` is that of the invariant. */
export interface Finding {
  readonly name: string
  readonly message: string
}

export type Report = (name: string, message: string) => void

export function instantText(at: number | null | undefined): string {
  return at === null || at === undefined ? 'never' : new Date(at).toISOString()
}

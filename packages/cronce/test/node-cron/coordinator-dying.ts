/** A background task whose process ends in the middle of it. */
export function task(): Promise<never> {
  process.exit(3)
}

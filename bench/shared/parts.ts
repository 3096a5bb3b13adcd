import type { Saved } from './saved.ts'

/** Runs part by part. A part that fails is reported, and the others are still measured. */
export async function measureEach<Part extends string>(
  parts: readonly Part[],
  measure: (part: Part) => Promise<unknown>,
  { progress, saved }: { progress(text: string): void; readonly saved: Saved },
): Promise<{ readonly [Name in Part]?: unknown } & { readonly failures?: readonly string[] }> {
  const failures: string[] = []
  for (const part of parts) {
    progress(`${part} …`)
    try {
      saved.keep(part, await measure(part))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      progress(`${part} failed: ${reason}`)
      failures.push(`${part}: ${reason}`)
    }
  }
  const results = saved.results() as { readonly [Name in Part]?: unknown }
  return failures.length === 0 ? results : { ...results, failures }
}

/** Part by part; one that fails is reported beside the others, which are measured all the same. */
export async function measureEach<Part extends string>(
  parts: readonly Part[],
  measure: (part: Part) => Promise<unknown>,
  progress: (text: string) => void,
): Promise<{ readonly [Name in Part]?: unknown } & { readonly failures?: readonly string[] }> {
  const results: { [Name in Part]?: unknown } = {}
  const failures: string[] = []
  for (const part of parts) {
    progress(`${part} …`)
    try {
      results[part] = await measure(part)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      progress(`${part} failed: ${reason}`)
      failures.push(`${part}: ${reason}`)
    }
  }
  return failures.length === 0 ? results : { ...results, failures }
}

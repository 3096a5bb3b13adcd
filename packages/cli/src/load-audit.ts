/** The package @cronce/audit, which is installed apart; `null` if it is not there. */
export async function loadAudit(): Promise<typeof import('@cronce/audit') | null> {
  try {
    return await import('@cronce/audit')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return null
  }
}

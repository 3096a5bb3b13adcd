/** `null`: it is not installed. A broken installation throws its own error. */
export async function loadIfInstalled<Module>(load: () => Promise<Module>, name: string): Promise<Module | null> {
  try {
    return await load()
  } catch (error) {
    const isMissing =
      error instanceof Error &&
      'code' in error &&
      /^ERR_MODULE_NOT_FOUND$/.test(String(error.code)) &&
      error.message.includes(`'${name}'`)
    if (isMissing) return null
    throw error
  }
}

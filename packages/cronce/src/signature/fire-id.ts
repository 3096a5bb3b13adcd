/** A fire in one text, the same for all its runs: `nightly@2027-01-01T03:00:00.000Z`, and behind `#` what tells manual ones apart. */
export function fireIdOf(fire: { readonly schedule: string; readonly dueAt: number; readonly nonce: string }): string {
  const suffix = fire.nonce === '' ? '' : `#${fire.nonce}`
  return `${fire.schedule}@${new Date(fire.dueAt).toISOString()}${suffix}`
}

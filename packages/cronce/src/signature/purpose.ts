import { signatureInvalid } from './verify-signature.ts'

/** What a signed request is for. Several kinds are signed with the same secret, and none may be replayed as another. */
export const PURPOSE_HEADER = 'cronce-purpose'

/** `delivery`: a run that an endpoint is asked to do. `completion`: how it ended. What is delivered to us has none. */
export type Purpose = 'delivery' | 'completion'

export function demandPurpose(headers: ReadonlyMap<string, string>, purpose: Purpose | undefined): void {
  const found = headers.get(PURPOSE_HEADER)
  if (found === purpose) return
  throw signatureInvalid(
    found === undefined
      ? `It was not made as a ${purpose}.`
      : `It was made for another purpose: ${found.slice(0, 20)}.`,
  )
}

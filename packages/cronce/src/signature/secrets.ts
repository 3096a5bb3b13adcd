import { CronceError } from '../errors.ts'
import { counted, kindOf } from '../words.ts'

/** One secret, or several while they are being replaced. */
export type Secret = string | readonly string[]

/** Shorter ones can be guessed from one signature. */
const SHORTEST = 16
/** Two are enough to replace one; without a bound, one request could cost any number of hashes. */
const MOST = 8

export function readSecrets(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (secrets.length < 1 || secrets.length > MOST) throw invalid(`${secrets.length} secrets were given`)
  return secrets.map((one) => {
    // The secret itself never stands in a message.
    if (typeof one !== 'string') throw invalid(`a secret is ${kindOf(one)}`)
    if (one.length < SHORTEST) throw invalid(`a secret has ${counted(one.length, 'character')}`)
    return one
  })
}

function invalid(what: string): CronceError {
  return new CronceError('SECRET_INVALID', `Nothing can be signed or verified: ${what}.`, {
    hint: `Give 1 to ${MOST} texts of at least ${SHORTEST} characters, each made with: openssl rand -hex 32`,
  })
}

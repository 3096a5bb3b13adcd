import { nodeCrypto } from '../node-crypto.ts'

/** Stable for a fire, whatever run asks, and short enough for any gateway. */
export function idempotencyKey(parts: readonly (string | number)[]): string {
  return `cronce_${nodeCrypto().createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}

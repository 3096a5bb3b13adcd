import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Sealed texts have a multiple of this length, so that it does not say how long a hidden name is. */
const BLOCK_BYTES = 256

/** What a seal is for. A text that was sealed for one purpose can't be opened for another. */
export type SealPurpose = 'schedules' | 'fires' | 'runs' | 'activity' | 'event'

/** Encrypts and authenticates positions in lists and streams, which may name what the caller must not see. */
export class Seal {
  readonly #key: Buffer

  /** Processes with the same secret open each other's texts. Without one, the key ends with the process. */
  constructor(secret: string | null) {
    this.#key = secret === null ? randomBytes(32) : createHash('sha256').update(`cursor ${secret}`).digest()
  }

  close(purpose: SealPurpose, text: string): string {
    const plain = Buffer.from(JSON.stringify(text))
    const padding = Buffer.alloc(BLOCK_BYTES - (plain.length % BLOCK_BYTES), ' ')
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(purpose))
    const body = Buffer.concat([cipher.update(plain), cipher.update(padding), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
  }

  /** `null`: it was not sealed with this key for this purpose. */
  open(purpose: SealPurpose, sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < NONCE_BYTES + TAG_BYTES + BLOCK_BYTES) return null
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag)
    try {
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES)
      return JSON.parse(Buffer.concat([decipher.update(body), decipher.final()]).toString())
    } catch {
      return null
    }
  }
}

/** The published entry `cronce/signature`: for both sides of an HTTP target. It runs wherever there is Web Crypto. */
export { type Completion, type SignedCallback, signCallback, verifyCallback } from './signature/completion.ts'
export { type Delivery, verify } from './signature/delivery.ts'
export type { HeaderSource, PlainHeaders } from './signature/headers.ts'
export { nameOfPart, pathPart } from './signature/path-part.ts'
export type { RawBody } from './signature/read-body.ts'
export type { Secret } from './signature/secrets.ts'
export { type SignOptions, sign, type Unsigned } from './signature/sign.ts'
export {
  type SignedRequest,
  type VerifiedRequest,
  type VerifyOptions,
  verifySignature,
} from './signature/verify-signature.ts'

/** Loaded on first use: importing it would cost every start as much as a tenth of the library. */
export function nodeCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/**
 * Throws again what `call` throws. Of an uncaught error Node.js prints the source line of the last throw: the build keeps the two comments
 * that begin with an exclamation mark, so that this line stands alone, and not amid minified code.
 */
export function atEntry<Value>(call: () => Value): Value {
  try {
    return call()
  } catch (error) {
    //! cronce
    // biome-ignore lint/complexity/noUselessCatch: see above
    throw error
    //! The message below says what is wrong; the first line of its stack is the call.
  }
}

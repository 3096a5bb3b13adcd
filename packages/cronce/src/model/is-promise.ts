/** By its method: an application may replace the global `Promise`, and async functions return the original one. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

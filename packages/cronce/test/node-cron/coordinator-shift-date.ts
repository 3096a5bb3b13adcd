/** Imported before everything else: shifts the wall clock of this process, and of those it forks. */
const { CRONCE_TEST_SKEW_MS = '0' } = process.env
const skewMs = Number(CRONCE_TEST_SKEW_MS)
const now = Date.now

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now() + skewMs] : args, self),
  get: (target, name, self) => (name === 'now' ? () => now() + skewMs : Reflect.get(target, name, self)),
})

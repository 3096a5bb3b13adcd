/** Loaded before everything else in a process: its wall clock is so far off. Monotonic clocks and timers are left alone. */
const { SKEW_MS = '0' } = process.env
const byMs = Number(SKEW_MS)
const RealDate = Date

class ShiftedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(RealDate.now() + byMs)
    // A date has many constructors, which all mean the same here as there.
    else super(...(args as [number]))
  }

  static override now(): number {
    return RealDate.now() + byMs
  }
}

// `Date()` without `new` would throw with a class; no code here calls it.
if (byMs !== 0) globalThis.Date = ShiftedDate as DateConstructor

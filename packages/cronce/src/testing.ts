/** The published entry `cronce/testing`: schedules without waiting, and the proof of a store. */

export type { StoreUnderTest } from './testing/conformance/bench.ts'
export { describeStore } from './testing/conformance/describe-store.ts'
export { type TestKit, type TestKitOptions, testKit } from './testing/test-kit.ts'
export { type VirtualClock, virtualClock } from './testing/virtual-clock.ts'

/** The published entry `cronce/testing`: schedules without waiting. */

export { type TestKit, type TestKitOptions, testKit } from './testing/test-kit.ts'
export { type VirtualClock, virtualClock } from './testing/virtual-clock.ts'

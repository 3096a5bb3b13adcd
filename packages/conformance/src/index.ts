/** The published entry `@cronce/conformance`: the contract of a store, as tests. Its rules are sources of the library. */

// The suite needs nothing of it, but a Node.js that is too old must fail with the message of the library.
import 'cronce'

export type { StoreUnderTest } from '../../cronce/src/testing/conformance/bench.ts'
export { describeStore } from '../../cronce/src/testing/conformance/describe-store.ts'

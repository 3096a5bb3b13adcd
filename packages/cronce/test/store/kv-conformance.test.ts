import { openKvStore } from '../../src/store/kv/open.ts'
import type { StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { describeRules } from './kv-kit.ts'
import { ModelServer } from './kv-model.ts'

// The key-value store without the driver of a server: what fails here is no driver's fault, and what fails on a server only is.

const onModel = async (): Promise<StoreUnderTest<never>> => {
  let now = Date.UTC(2026, 5, 1, 9, 30)
  const server = new ModelServer({ now: () => now })
  return {
    source: {
      name: 'model',
      open: (options) => {
        return openKvStore(server.driver(), { ...options, prefix: 'cronce', onClose: async () => {} })
      },
    },
    clock: {
      advance(ms) {
        now += ms
      },
    },
    dispose: async () => {},
  }
}

/** Leases are the server's own: no clock that is set back moves them. */
const SET_BACK = "a lease that was renewed before the store's clock was set back does not outlast it"

describeRules('the key-value store, on a model of a server', onModel, (title) => title !== SET_BACK)

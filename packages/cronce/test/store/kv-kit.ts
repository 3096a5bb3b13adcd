import { after, before, describe } from 'node:test'
import type { KvDriver } from '../../src/store/kv/driver.ts'
import { decodeNumber, encodeNumber, Keys } from '../../src/store/kv/keys.ts'
import type { OpenOptions, StoreSource } from '../../src/store/store.ts'
import { type Rule, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { NOUNS } from '../../src/testing/conformance/describe-store.ts'

export const OPENING: OpenOptions = { namespace: 'test', adopt: false, production: false, warn: () => {} }

/** Make all instances that are over, over for this much longer. Closes the driver. */
export async function ageInstances(driver: KvDriver, namespace: string, ms: number): Promise<void> {
  const keys = new Keys('cronce', namespace)
  const { found } = await driver.read([{ ...keys.below('gt'), keysOnly: true }])
  for (const { key } of found[0]!.entries) {
    const [, endedAt, name] = keys.parts(key)
    const older = { key: keys.key('gt', encodeNumber(decodeNumber(endedAt!) - ms), name!), value: '' }
    await driver.commit({ guards: [], puts: [older], groups: [{ guards: [], puts: [], deletes: [key] }] })
  }
  await driver.close()
}

/** Every opening is connected to another member: what one of them wrote, the next one must see. */
export function inTurn(sources: readonly StoreSource<never>[]): StoreSource<never> {
  let openings = 0
  return {
    name: sources[0]!.name,
    open: (options) => sources[openings++ % sources.length]!.open(options),
  }
}

/** One rule of the suite in this many. */
export function describeSome(name: string, open: () => Promise<StoreUnderTest>, share: number): void {
  let count = 0
  describeRules(name, open, () => count++ % share === 0)
}

/** The rules of the suite that are wanted. */
export function describeRules(
  name: string,
  open: () => Promise<StoreUnderTest>,
  isWanted: (...given: Parameters<Rule>) => boolean,
): void {
  describe(name, () => {
    let under: StoreUnderTest
    before(async () => {
      under = await open()
    })
    after(() => under.dispose())
    const all = ruleFor(() => under)
    const some: Rule = (...given) => {
      if (isWanted(...given)) all(...given)
    }
    for (const rules of Object.values(NOUNS)) rules(some)
  })
}

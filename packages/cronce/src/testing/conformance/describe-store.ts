import { after, before, describe } from 'node:test'
import { activityRules } from './activity.ts'
import { appRules } from './apps.ts'
import { type Rule, ruleFor, type StoreUnderTest } from './bench.ts'
import { changingRules } from './changing.ts'
import { claimingRules } from './claiming.ts'
import { dataRules } from './data.ts'
import { endRules } from './ends.ts'
import { fencingRules } from './fencing.ts'
import { historyRules } from './history.ts'
import { identityRules } from './identity.ts'
import { instanceRules } from './instances.ts'
import { listingRules } from './listing.ts'
import { instanceListRules } from './listing-instances.ts'
import { nameRules } from './names.ts'
import { namespaceRules } from './namespaces.ts'
import { overviewRules } from './overviews.ts'
import { planningRules } from './planning.ts'
import { retentionRules } from './retention.ts'
import { stepRules } from './steps.ts'
import { transactionRules } from './transactions.ts'
import { unknownRules } from './unknown.ts'
import { wakeRules } from './wake.ts'

/** The contract of a store, by what each part is about. */
export const NOUNS: Readonly<Record<string, (rule: Rule) => void>> = {
  planning: planningRules,
  changing: changingRules,
  history: historyRules,
  identity: identityRules,
  claiming: claimingRules,
  fencing: fencingRules,
  steps: stepRules,
  instances: instanceRules,
  apps: appRules,
  listing: listingRules,
  'lists of instances': instanceListRules,
  overviews: overviewRules,
  ends: endRules,
  'operator log': activityRules,
  retention: retentionRules,
  transactions: transactionRules,
  wake: wakeRules,
  namespaces: namespaceRules,
  names: nameRules,
  data: dataRules,
  'unknown answers': unknownRules,
}

/**
 * Prove a store: every rule of the contract as a test of `node:test`. Call it in a test file of your own.
 *
 * The store is opened many times, in a namespace per rule and by several at once, as a fleet would; it need not be empty.
 */
export function describeStore<Tx>(name: string, open: () => Promise<StoreUnderTest<Tx>>): void {
  describe(name, () => {
    let under: StoreUnderTest | undefined
    before(async () => {
      under = await open()
    })
    after(() => under?.dispose())
    const rule = ruleFor(() => {
      if (under === undefined) throw new Error('the store was not opened')
      return under
    })
    for (const [noun, rules] of Object.entries(NOUNS)) describe(noun, () => rules(rule))
  })
}

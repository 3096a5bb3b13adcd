import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPgbouncer, startPostgres } from '../../../../scripts/servers/index.ts'
import type { PostgresTransaction } from '../../src/store/postgres/library.ts'
import { postgres } from '../../src/store/postgres/postgres.ts'
import { appRules } from '../../src/testing/conformance/apps.ts'
import { join, type Rule, ruleFor, type StoreUnderTest } from '../../src/testing/conformance/bench.ts'
import { changingRules } from '../../src/testing/conformance/changing.ts'
import { claimingRules } from '../../src/testing/conformance/claiming.ts'
import { dataRules } from '../../src/testing/conformance/data.ts'
import { fencingRules } from '../../src/testing/conformance/fencing.ts'
import { instanceRules } from '../../src/testing/conformance/instances.ts'
import { listingRules } from '../../src/testing/conformance/listing.ts'
import { nameRules } from '../../src/testing/conformance/names.ts'
import { namespaceRules } from '../../src/testing/conformance/namespaces.ts'
import { planningRules } from '../../src/testing/conformance/planning.ts'
import { retentionRules } from '../../src/testing/conformance/retention.ts'
import { stepRules } from '../../src/testing/conformance/steps.ts'
import { transactionRules } from '../../src/testing/conformance/transactions.ts'
import { unknownRules } from '../../src/testing/conformance/unknown.ts'
import { inTransaction, openPool } from '../processes/postgres-fleet.ts'

/** All but wake-ups, which are for sessions. */
const NOUNS: Readonly<Record<string, (rule: Rule) => void>> = {
  planning: planningRules,
  changing: changingRules,
  claiming: claimingRules,
  fencing: fencingRules,
  steps: stepRules,
  instances: instanceRules,
  apps: appRules,
  listing: listingRules,
  retention: retentionRules,
  transactions: transactionRules,
  namespaces: namespaceRules,
  names: nameRules,
  data: dataRules,
  'unknown answers': unknownRules,
}

/** What transactions and races need, with a single shared connection. */
const FEW = ['claiming', 'transactions', 'unknown answers']

/** With two, nearly everything: for `npm run test:newest-postgres`, which has the time. */
const { CRONCE_LONG } = process.env
const SIZES = CRONCE_LONG === '1' ? [1, 2] : [1]

for (const poolSize of SIZES) {
  describe(`PostgreSQL behind PgBouncer in transaction mode with a pool of ${poolSize}`, () => {
    let under: StoreUnderTest<PostgresTransaction>
    before(async () => {
      under = await open(poolSize)
    })
    after(() => under.dispose())
    const rule = ruleFor(() => under as StoreUnderTest)
    for (const [noun, rules] of Object.entries(NOUNS)) {
      if (poolSize > 1 || FEW.includes(noun)) describe(noun, () => rules(rule))
    }
  })
}

async function open(poolSize: number): Promise<StoreUnderTest<PostgresTransaction>> {
  // Nothing crashes here.
  const server = await startPostgres({ settings: { fsync: 'off' } })
  const bouncer = await startPgbouncer({ upstream: server, poolSize, mode: 'transaction' })
  const user = openPool(server.url)
  await user.query('create table texts (text text not null)')
  return {
    // It would take a second at every opening to find out that there is no session.
    source: postgres(bouncer.url, { migrate: 'auto', session: false }),
    database: {
      write: async (tx, text) => void (await tx.query('insert into texts values ($1)', [text])),
      read: async () => (await user.query('select text from texts')).rows.map((row: { text: string }) => row.text),
      transaction: (work) => inTransaction(user, work),
    },
    dispose: async () => {
      await user.end()
      await bouncer.stop()
      await server.stop()
    },
  }
}

test('behind a pooler the lost features are reported once', async (context) => {
  const server = await startPostgres()
  context.after(() => server.stop())
  const bouncer = await startPgbouncer({ upstream: server, poolSize: 2, mode: 'transaction' })
  context.after(() => bouncer.stop())
  const warnings: string[] = []
  const store = await postgres(bouncer.url, { migrate: 'auto' }).open({
    namespace: 'default',
    adopt: false,
    production: false,
    warn: (code) => void warnings.push(code),
  })
  context.after(() => store.close())
  const unwatch = store.watch(() => {})
  await join(store, 'one')
  await join(store, 'two')
  assert.deepEqual(await store.probe(['one']), [])
  unwatch()
  assert.deepEqual(warnings, ['STORE_POOLED'])
})

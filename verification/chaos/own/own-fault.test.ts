import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Chaos } from '../chaos.ts'
import { createPlan } from '../plan.ts'
import { randomFrom } from '../random.ts'
import { loadFault } from './own-fault.ts'

const EXAMPLE = join(import.meta.dirname, 'stutter.ts')
const CHAOS = { store: { network: null, server: null }, transacts: true } as unknown as Chaos

test('a fault from a file is dealt like the others, also in a brief run', async () => {
  const own = [await loadFault(EXAMPLE)]
  for (const isBrief of [false, true]) {
    const plan = createPlan(CHAOS, randomFrom(1), { isBrief, first: [], own })
    const dealt = Array.from({ length: 40 }, () => plan.next())
    assert.ok(dealt.some(({ name, fault }) => name === 'stutter' && fault === own[0]!.fault))
  }
})

test('the fault stops its process and lets it go again, tells the judge about both, and ends when calm is wanted', async () => {
  const { fault } = await loadFault(EXAMPLE)
  const signals: string[] = []
  const log: string[] = []
  const slot = { node: 'w1.1', isReady: true, isTaken: false, signal: (signal: string) => void signals.push(signal) }
  const recorder = {
    now: () => 0,
    fault(name: string, node: string) {
      log.push(`${name} of ${node}`)
      return () => void log.push('over')
    },
  }
  // Time stands still, so that only calm ends it.
  const chaos = { leaseMs: 2_000, recorder, fleet: { slots: [slot] }, isCalm: () => signals.length >= 6 }
  await fault(chaos as unknown as Chaos, randomFrom(1))
  assert.deepEqual(signals, ['SIGSTOP', 'SIGCONT', 'SIGSTOP', 'SIGCONT', 'SIGSTOP', 'SIGCONT'])
  assert.deepEqual(log, ['stutter of w1.1', 'over'])
  assert.equal(slot.isTaken, false)
})

test('a file without a fault is refused', async () => {
  await assert.rejects(loadFault(join(import.meta.dirname, 'own-fault.ts')), /must export a function `fault`/)
})

test('the page shows this file', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/break-it-yourself.md'), 'utf8')
  assert.ok(page.includes(`\`\`\`js\n${readFileSync(EXAMPLE, 'utf8')}\`\`\``))
})

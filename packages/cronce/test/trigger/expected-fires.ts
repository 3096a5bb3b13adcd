import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso, oracleFires } from '../../../checker/src/oracle/ask-oracle.ts'
import { type CronOptions, cron, type Trigger } from '../../src/cron.ts'

/** What an expression does between two instants, written down by hand. */
export interface ExpectedFires {
  readonly rule: string
  readonly expression: string
  readonly options?: CronOptions
  readonly from: string
  readonly to: string
  readonly fires: readonly string[]
}

/** One test per row. The oracle must agree with the row too, so that a wrong expectation is found first. */
export function testRows(rows: readonly ExpectedFires[]): void {
  for (const { rule, expression, options = {}, from, to, fires } of rows) {
    const where = options.tz === undefined ? '' : ` in ${options.tz}`
    test(`${rule}: ${expression}${where}`, () => {
      assert.deepEqual(oracleFires(expression, options, Date.parse(from), Date.parse(to)).map(iso), fires, 'the oracle')
      assert.deepEqual(firesBetween(cron(expression, options), from, to), fires, 'the engine')
      assert.deepEqual(firesBackwards(cron(expression, options), from, to), fires, 'the engine, backwards')
    })
  }
}

/** Fires in [from, to), found with next. */
export function firesBetween(subject: Trigger, from: string, to: string): (string | null)[] {
  const end = Date.parse(to)
  const fires: number[] = []
  for (let at = subject.next(Date.parse(from) - 1); at !== null && at < end; at = subject.next(at)) {
    assert.ok(fires.length < 10_000, 'too many fires for a table row')
    assert.ok(fires.length === 0 || at > fires.at(-1)!, 'next must advance')
    fires.push(at)
  }
  return fires.map(iso)
}

function firesBackwards(subject: Trigger, from: string, to: string): (string | null)[] {
  const start = Date.parse(from)
  const fires: number[] = []
  for (let at = subject.prev(Date.parse(to)); at !== null && at >= start; at = subject.prev(at)) {
    assert.ok(fires.length === 0 || at < fires[0]!, 'prev must go back')
    fires.unshift(at)
  }
  return fires.map(iso)
}

/** Both expressions name the same instants: compared over the first 400 fires after several starts. */
export function assertSameSet(left: Trigger, right: Trigger, label: string): void {
  for (const start of ['1970-01-01T00:00Z', '2024-02-28T23:59:59Z', '2025-03-08T00:00Z', '2025-11-01T12:00Z']) {
    const at = Date.parse(start) - 1
    assert.deepEqual(left.nextN(at, 400).map(iso), right.nextN(at, 400).map(iso), `${label} from ${start}`)
  }
}

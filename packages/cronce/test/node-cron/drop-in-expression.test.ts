import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import nodeCron from 'node-cron'
import cron, { type ScheduledTask } from '../../src/node-cron.ts'

/** Not shown to node-cron, which would count so far and take seconds. */
const FAR = '0-999999999 * * * *'
/** Written by hand, valid or not: each is judged by node-cron itself. */
const WRITTEN = [
  ...['* * * * *', '* * * * * *', '*/5 * * * *', '0 */90 * * * *', '*/90 * * * *', '0 0 1 1 *', '1,2,3 4-6 * * *'],
  ...['0 22-2 * * *', '0 0 * * 5-1', '0 0 * * sat-sun', '0 0 * * 0-7', '0 0 * * 7', '0 0 * 11-2 *', '58-2 * * * * *'],
  ...['0 0 13 * 5', '0 0 13 * fri', '0 0 1-7 * monday', '0 0 L * *', '0 0 l * *', '0 0 L-3 * *', '0 0 15W * *'],
  ...['0 0 LW * *', '0 0 lw * *', '0 0 1,15,L * *', '0 0 * * 5L', '0 0 * * friL', '0 0 * * 5#2', '0 0 * * mon#1,fri#3'],
  ...['0 0 * * 7L', '0 0 * * 7#2', '0 0 ? * 1', '0 0 1 * ?', '? * * * *', '@daily', '@Hourly', '  @weekly ', '@reboot'],
  ...['0 0 * january,mar *', '0 0 * January-March mon-fri', '0 0 31 2 *', '0 0 30 2 *', '0 0 29 2 *', '0 0 31 4,6 *'],
  ...['60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * * 8', '5/15 * * * *', '*/0 * * * *'],
  ...['', '   ', '* * * *', '* * * * * * *', 'a b c d e', '* * * * * !', '1-70 * * * *', '-1 * * * *'],
  ...[
    '1,,2 * * * *',
    ', * * * *',
    '0 0 L-0 * *',
    '0 0 L-31 * *',
    '0 0 32W * *',
    '0 0 0W * *',
    '0 0 1-5W * *',
    '0 0 L-3W * *',
  ],
  ...[
    '0 0 * * 5#6',
    '0 0 * * 8L',
    '0 0 * * L',
    '0 0 W * *',
    '1-5/2 * * * *',
    '5-1/2 * * * *',
    '1-5/0 * * * *',
    '**/2 * * * *',
  ],
  ...[
    '00 03 * * *',
    '0  3   * * *',
    '0 3 * * 1-5 ',
    '*/1 * * * *',
    '1-1 * * * *',
    '* * * * 1-5/2',
    '0 0 5,5 * *',
    '10-5/20 * * * *',
  ],
]

/** Anything that is built of the pieces of the grammar, the same every time. */
function random(count: number): string[] {
  let seed = 20_261_116
  const draw = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const items = [
    '*',
    '*/2',
    '*/7',
    '0',
    '5',
    '12',
    '23',
    '31',
    '59',
    '60',
    '1-5',
    '20-3',
    '2-9/3',
    '9-2/2',
    '1,3,5',
    '7',
  ]
  const days = [...items, 'L', 'L-2', '15W', 'LW', '?', '30', '31']
  const weekdays = [...items, 'mon', 'fri-mon', '5L', '2#2', 'sun', '0-7', '?']
  const months = [...items, 'feb', 'nov-feb', 'JUNE', '2', '4,6']
  const pick = (from: readonly string[]): string => from[draw(from.length)]!
  return Array.from({ length: count }, () => {
    const fields = [pick(items), pick(items), pick(days), pick(months), pick(weekdays)]
    return (draw(3) === 0 ? [pick(items), ...fields] : fields).join(' ')
  })
}

const DAILY = ['30 2 * * *', '0 1 * * *', '30 1 * * *', '*/30 * * * *', '0 * * * *', '0 0 * * *']
const EXPRESSIONS = [...WRITTEN, ...random(1_500)]

describe('Expressions of the drop-in, judged by node-cron', () => {
  it('are valid where node-cron accepts them, name the same values, and are refused in the same words', () => {
    for (const expression of EXPRESSIONS) {
      assert.deepEqual(cron.validateDetailed(expression), nodeCron.validateDetailed(expression), expression)
      assert.equal(cron.validate(expression), nodeCron.validate(expression), expression)
    }
    for (const wrong of [undefined, null, 5, {}] as unknown as string[]) {
      assert.deepEqual(cron.validateDetailed(wrong), nodeCron.validateDetailed(wrong))
      assert.equal(cron.validate(wrong), false)
    }
    assert.equal(cron.validate(FAR), false, 'without counting so far')
    assert.deepEqual(cron.parse('*/20 3 * * mon'), nodeCron.parse('*/20 3 * * mon'))
    assert.throws(() => cron.parse('60 * * * *'), { message: '60 is a invalid expression for minute' })
  })

  const NEVER = { message: 'Could not find next matching date within reasonable time range' }
  let nevers = 0
  const MOMENTS = [
    '2026-03-07T12:00:00.000Z',
    '2026-10-31T20:30:15.250Z',
    '2026-12-31T23:59:59.999Z',
    '2028-02-27T00:00:00Z',
  ]
  const ZONES = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Auckland']

  it('are due when they are due for node-cron, also where clocks change', () => {
    const some = [...WRITTEN, ...random(20)].filter((text) => text.length < 40 && nodeCron.validate(text))
    for (const [index, expression] of some.entries()) {
      const timezone = ZONES[index % ZONES.length]!
      const now = MOMENTS[index % MOMENTS.length]!
      compareNext(expression, timezone, now)
    }
    for (const expression of DAILY) {
      for (const now of ['2026-03-07T20:00:00Z', '2026-10-31T20:00:00Z'])
        compareNext(expression, 'America/New_York', now)
      compareNext(expression, 'Europe/Berlin', '2026-03-28T20:00:00Z')
    }
  })

  it('are due in the first pass of an hour that comes twice; in zones east of Greenwich node-cron takes the second', () => {
    mock.timers.enable({ apis: ['Date'], now: new Date('2026-10-24T20:00:00Z') })
    const [its, ours] = [nodeCron, cron].map((api) => {
      const task = api.createTask('30 2 * * *', () => {}, { timezone: 'Europe/Berlin' })
      const [next] = task.getNextRuns(1)
      void task.destroy()
      return next?.toISOString()
    })
    mock.timers.reset()
    assert.equal(ours, '2026-10-25T00:30:00.000Z')
    assert.equal(its, '2026-10-25T01:30:00.000Z')
  })

  function isNever(task: ScheduledTask): boolean {
    try {
      return task.getNextRuns(1).length === 0
    } catch {
      return true
    }
  }

  function compareNext(expression: string, timezone: string, now: string): void {
    mock.timers.enable({ apis: ['Date'], now: new Date(now) })
    const its = nodeCron.createTask(expression, () => {}, { timezone })
    const ours = cron.createTask(expression, () => {}, { timezone })
    try {
      const about = `${expression} ${timezone} ${now}`
      if (isNever(ours)) {
        // node-cron searches every day of a century first: worth the time once.
        if (nevers++ === 0) assert.throws(() => its.getNextRuns(1), NEVER, about)
        assert.throws(() => ours.getNextRuns(1), NEVER, about)
        return
      }
      const expected = its.getNextRuns(6)
      assert.deepEqual(ours.getNextRuns(6), expected, about)
      for (const at of expected) {
        for (const shifted of [at, new Date(at.getTime() + 500), new Date(at.getTime() + 3_600_000)])
          assert.equal(ours.match(shifted), its.match(shifted), `${about} at ${shifted.toISOString()}`)
      }
    } finally {
      void its.destroy()
      void ours.destroy()
      mock.timers.reset()
    }
  }

  it('with an unknown zone are created, and refused when they are started', () => {
    for (const api of [nodeCron, cron]) {
      const task = api.createTask('* * * * *', () => {}, { timezone: 'Mars/Olympus' })
      assert.throws(() => task.start(), RangeError)
      if (api === cron) void task.destroy()
      else assert.throws(() => task.destroy(), RangeError)
      const before = api.getTasks().size
      assert.throws(() => api.schedule('* * * * *', () => {}, { timezone: 'Mars/Olympus' }), RangeError)
      assert.equal(api.getTasks().size, before)
    }
  })
})

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { cronce } from 'cronce'
import { ask } from './cronce.ts'
import { scratch } from './steer-kit.ts'

interface Told {
  readonly from: string
  readonly until: string
  readonly fires: number
  readonly runs: number
  readonly overlapped: number
  readonly peak: { readonly running: number; readonly at: string }
  readonly busiestHour: { readonly at: string; readonly runs: number }
  readonly assumed: { readonly recorded: readonly string[] }
  readonly schedules: readonly {
    readonly name: string
    readonly fires: number
    readonly succeeded: number
    readonly overlapped: number
    readonly waited: number
    readonly paused: boolean
    readonly reasons: Readonly<Record<string, number>>
    readonly longestWaitMs: number
  }[]
  readonly hours: { readonly runs: readonly number[]; readonly peak: readonly number[] }
  readonly outage: {
    readonly from: string
    readonly due: number
    readonly ranLate: number
    readonly superseded: number
    readonly lost: number
    readonly tried: number
    readonly schedules: readonly {
      readonly name: string
      readonly ranLate: number
      readonly notRun: Readonly<Record<string, number>>
    }[]
  } | null
  readonly clockChanges: readonly { readonly name: string; readonly words: string }[]
  readonly collisions: readonly { readonly words: string; readonly most: number; readonly advice: readonly object[] }[]
}

type Jobs = Readonly<Record<string, object>>

function benchFor(context: TestContext) {
  const folder = scratch()
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (jobs: Jobs): string => {
    const path = join(folder, 'jobs.json')
    const withTarget = Object.entries(jobs).map(([name, job]) => [name, { ...job, command: ['true'] }])
    writeFileSync(path, JSON.stringify(Object.fromEntries(withTarget)))
    return path
  }
  const asked = (...args: string[]) => ask(['simulate', ...args], {}, { cwd: folder })
  return {
    folder,
    asked: (jobs: Jobs, ...args: string[]) => asked(file(jobs), '--from', '2027-01-01', ...args),
    async told(jobs: Jobs | null, ...args: string[]): Promise<Told> {
      const of = jobs === null ? [] : [file(jobs), '--from', '2027-01-01']
      const { stdout, stderr } = await asked(...of, '--json', ...args)
      assert.notEqual(stdout, '', stderr)
      return JSON.parse(stdout)
    },
  }
}

const DAY_MS = 86_400_000

describe('cronce simulate', { concurrency: 4, timeout: 300_000 }, () => {
  test('counts the fires of a year, what overlaps, and the most runs at a time', async (context) => {
    const { told } = benchFor(context)
    const jobs = {
      hourly: { cron: '0 * * * *' },
      nightly: { cron: '0 3 * * *' },
      often: { cron: '*/10 * * * *', overlap: 'skip' },
      patient: { cron: '*/30 * * * *', overlap: 'queue' },
    }
    const durations = ['--duration', '1m', '--duration', 'often=15m', '--duration', 'patient=31m']
    const { from, until, schedules, peak, busiestHour, hours, ...all } = await told(jobs, ...durations)
    assert.equal(Date.parse(until) - Date.parse(from), 365 * DAY_MS)
    const counts = Object.fromEntries(schedules.map(({ name, ...counted }) => [name, counted]))
    assert.deepEqual([counts['hourly']!.succeeded, counts['nightly']!.succeeded], [8_760, 365])
    // Every other one is due while the one before it runs.
    assert.deepEqual([counts['often']!.fires, counts['often']!.reasons['overlap']], [52_560, 26_280])
    assert.ok(counts['patient']!.waited > 10_000 && counts['patient']!.longestWaitMs > 20 * 60_000)
    assert.deepEqual(
      [peak.running, peak.at, busiestHour.at],
      [4, '2027-01-01T03:00:00.000Z', '2027-01-01T03:00:00.000Z'],
    )
    assert.equal(hours.runs.length, 8_760)
    assert.deepEqual([Math.max(...hours.runs), Math.max(...hours.peak)], [busiestHour.runs, peak.running])
    assert.equal(
      hours.runs.reduce((sum, count) => sum + count, 0),
      all.runs,
    )
    // The worst hour comes first.
    assert.ok(schedules[0]!.name !== 'hourly')
  })

  test('tries an outage at the worst time, and says what each misfire policy does with it', async (context) => {
    const { told } = benchFor(context)
    const jobs = {
      all: { cron: '*/15 1-4 * * *', misfire: 'all' },
      latest: { cron: '10,40 1-4 * * *' },
      monthly: { cron: '30 3 7 * *', misfire: 'skip' },
    }
    const { outage } = await told(jobs, '--days', '31')
    const effects = Object.fromEntries(outage!.schedules.map(({ name, ...effect }) => [name, effect]))
    // The only one that loses the monthly fire.
    const isIn = Date.parse(outage!.from) <= Date.parse('2027-01-07T03:30:00Z')
    assert.ok(isIn && Date.parse(outage!.from) > Date.parse('2027-01-07T01:30:00Z'), outage!.from)
    assert.deepEqual([effects['monthly']!.notRun, effects['monthly']!.ranLate], [{ late: 1 }, 0])
    assert.deepEqual([effects['all']!.notRun, effects['all']!.ranLate], [{}, 8])
    assert.deepEqual(Object.keys(effects['latest']!.notRun), ['superseded'])
    assert.ok(effects['latest']!.ranLate <= 1)
    assert.equal(outage!.lost, 1)
    assert.equal(outage!.due, outage!.ranLate + outage!.superseded + outage!.lost)
    assert.equal((await told(jobs, '--days', '31', '--outage', '0')).outage, null)
  })

  test('has the clock changes and the advice of plan', async (context) => {
    const { told, asked } = benchFor(context)
    const night = { cron: '0 2 * * *', tz: 'Europe/Berlin', dst: 'wall' }
    const jobs = { night, one: { cron: '0 5 * * *' }, two: { cron: '0 5 * * *' }, three: { cron: '0 5 * * *' } }
    const { clockChanges, collisions } = await told(jobs)
    assert.deepEqual(
      clockChanges.map(({ name, words }) => `${name} ${words.slice(0, 14)}`),
      ['night Sun 2027-03-28', 'night Sun 2027-10-31'],
    )
    assert.deepEqual([collisions[0]!.words, collisions[0]!.most, collisions[0]!.advice.length], ['05:00', 3, 2])
    const { stdout, status } = await asked(jobs, '--days', '7')
    assert.equal(status, 0)
    assert.match(stdout, /At most 3 runs at a time, at Fri 2027-01-01 05:00 UTC\./)
    assert.match(stdout, /05:00: 3 schedules, 7 times in the first week/)
    assert.match(stdout, /cron: 'H 5 \* \* \*' instead of '0 5 \* \* \*'/)
  })

  test('a limit of the fleet makes runs wait, and is never exceeded', async (context) => {
    const { told } = benchFor(context)
    const jobs = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { cron: '0 * * * *' }]))
    const { peak, schedules } = await told(jobs, '--days', '2', '--duration', '10m', '--concurrency', '2')
    assert.equal(peak.running, 2)
    assert.equal(
      schedules.reduce((sum, { waited }) => sum + waited, 0),
      2 * 48,
    )
    const limited = {
      a: { cron: '0 * * * *', group: { name: 'g', limit: 1 } },
      b: { cron: '0 * * * *', group: { name: 'g', limit: 1 } },
    }
    assert.equal((await told(limited, '--days', '2', '--duration', '10m')).peak.running, 1)
  })

  test('a store: its schedules, its pauses, the durations of its runs, and nothing is written', async (context) => {
    const { told, folder } = benchFor(context)
    const store = `sqlite:${join(folder, 'simulate.db')}`
    const app = cronce({ store, app: 'shop', logger: false, signals: false })
    const ended = new Promise((resolve) => app.on('fire.ended', resolve))
    app.job('tick', { every: '1h' }, () => {})
    app.job('idle', { cron: '0 3 * * *' }, () => {})
    await app.start()
    await app.schedules.put('extra', { job: 'tick', cron: '0 4 * * *' })
    await app.schedules.pause('idle', { author: 'ada' })
    await app.schedules.trigger('tick')
    await ended
    const records = (await app.fires.list({})).items.length
    const { schedules, assumed } = await told(null, '--store', store, '--days', '10')
    assert.deepEqual(
      schedules.map(({ name, paused }) => [name, paused]),
      [
        ['tick', false],
        ['extra', false],
        ['idle', true],
      ],
    )
    assert.deepEqual([schedules[1]!.fires, schedules[2]!.fires, assumed.recorded], [10, 0, ['tick']])
    assert.equal((await app.fires.list({})).items.length, records)
    await app.stop()
  })

  test('refuses a name that it does not know, and --from with a store', async (context) => {
    const { asked, folder } = benchFor(context)
    const unknown = await asked({ tick: { every: '1h' } }, '--duration', 'tock=1m')
    assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
    assert.match(unknown.stderr, /tock/)
    const from = await ask(['simulate', '--from', '2027-01-01'], {}, { cwd: folder })
    assert.deepEqual([from.status, from.stdout], [2, ''])
  })
})

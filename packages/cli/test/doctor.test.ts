import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { InstanceView, StoreView } from 'cronce'
import { type Rule, THRESHOLDS } from 'cronce/internal'
import type { Facts, FleetFacts, MachineFacts, RunFact, ScheduleFact, StoreFacts } from '../src/doctor/facts.ts'
import { CHECKS, type CheckName, type Finding, type Level } from '../src/doctor/finding.ts'
import { judge } from '../src/doctor/judge.ts'

const NOW = Date.UTC(2026, 10, 16, 12)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const MACHINE: MachineFacts = {
  version: '0.1.0',
  node: 'v24.21.0',
  experimental: [],
  zoneData: '2026c',
  now: NOW,
  isKubernetes: false,
  drainMs: null,
}
const STORE_VIEW: StoreView = {
  name: 'postgres://db/app',
  epoch: 3,
  transactions: true,
  probes: true,
  losesWrites: false,
  now: NOW,
  latencyMs: 2,
  offsetMs: 1,
}
const STORE: StoreFacts = {
  kind: 'postgres',
  name: 'postgres://db/app',
  trouble: null,
  checks: Array.from({ length: 5 }, () => STORE_VIEW),
  warnings: [],
  migration: { schema: 'cronce', state: 'current', applied: [], pending: [] },
  write: null,
  place: null,
}
const INSTANCE: InstanceView = {
  id: 'f3kXw9',
  app: 'shop',
  deployment: 'v7',
  jobs: ['report', 'billing'],
  labels: {},
  host: 'web-1',
  pid: 7,
  version: '0.1.0',
  zoneData: '2026c',
  state: 'live',
  startedAt: NOW - DAY,
  endedAt: null,
  renewedAt: NOW,
  clockOffsetMs: 3,
  running: 1,
  concurrency: 20,
  drain: false,
}
const SCHEDULE: ScheduleFact = {
  name: 'report:ada',
  job: 'report',
  app: null,
  state: 'active',
  nextAt: NOW + HOUR,
  dueSince: NOW + HOUR,
  oldestRun: null,
  problems: [],
  on: null,
  needsInstance: true,
  timeoutMs: 10 * MINUTE,
  failedInRow: 0,
  pause: null,
  waitingSince: null,
  callMissingAt: null,
}
const RUN: RunFact = {
  schedule: 'report:ada',
  job: 'report',
  token: '17592186044417',
  instance: 'f3kXw9',
  startedAt: NOW - MINUTE,
  timeoutMs: 10 * MINUTE,
  graceMs: 10_000,
}
const FLEET: FleetFacts = {
  now: NOW,
  instances: [INSTANCE],
  deployments: [{ app: 'shop', active: 'v7', activated: null, deployments: [], refused: [] }],
  thresholds: new Map(),
  internal: [],
  schedules: [SCHEDULE],
  isSample: false,
  runs: [RUN],
  isRunSample: false,
  unknownSteps: [],
}

interface Broken {
  readonly machine?: Partial<MachineFacts>
  readonly store?: Partial<StoreFacts>
  readonly fleet?: Partial<FleetFacts> | null
}

function judged({ machine, store, fleet }: Broken = {}): Finding[] {
  const facts: Facts = {
    machine: { ...MACHINE, ...machine },
    store: { ...STORE, ...store },
    fleet: fleet === null ? null : { ...FLEET, ...fleet },
  }
  return judge(facts)
}

/** The schedule, with what the rules of the watchdog found. */
function troubled(rule: Rule, schedule: Partial<ScheduleFact> = {}): ScheduleFact {
  const one = { ...SCHEDULE, ...schedule }
  return { ...one, problems: [{ rule, subject: one.name, text: 'as the rule says' }] }
}

/** That these facts, and no others, are found wrong with this. */
function finds(broken: Broken, check: CheckName, level: Level, message: RegExp): void {
  const found = judged(broken).filter((each) => each.level !== 'ok')
  const [first] = found
  assert.deepEqual([first?.check, first?.level], [check, level], JSON.stringify(found))
  assert.match(first!.message, message)
  assert.deepEqual(
    found.slice(1).map((each) => each.check),
    [],
    'nothing else',
  )
}

describe('what the doctor makes of facts', () => {
  test('in health every check reports ok, once, in a fixed order', () => {
    const found = judged()
    assert.deepEqual(new Set(found.map(({ level }) => level)), new Set(['ok']))
    assert.deepEqual(
      found.map(({ check }) => check),
      [
        'node',
        'zone-data',
        'store',
        'latency',
        'schema',
        'privileges',
        'clock',
        'settings',
        'copy',
        'instances',
        'silent',
        'instance-clocks',
        'deployments',
        'declarations',
        'versions',
        'orphans',
        'overdue',
        'stuck',
        'failing',
        'timeouts',
      ],
    )
  })

  test('Node.js that is too old, without fixes, without long support, or with experiments', () => {
    finds({ machine: { node: 'v20.20.2' } }, 'node', 'fail', /20\.20\.2 is older than 22\.18/)
    finds({ machine: { node: 'v22.17.0' } }, 'node', 'fail', /older than/)
    finds({ machine: { node: 'v22.20.0', now: Date.UTC(2027, 5, 1) } }, 'node', 'warn', /no fixes since 2027-04-30/)
    finds({ machine: { node: 'v25.1.0' } }, 'node', 'note', /without long support/)
    finds({ machine: { experimental: ['--experimental-vm-modules'] } }, 'node', 'note', /--experimental-vm-modules/)
    finds({ machine: { node: 'v22.20.0' }, store: { kind: 'sqlite' } }, 'node', 'note', /calls its SQLite experimental/)
  })

  test('time zone data that is old, or not the same everywhere', () => {
    finds({ machine: { zoneData: '2024b' }, fleet: null }, 'zone-data', 'warn', /2024b is from 2024/)
    finds({ machine: { zoneData: '' }, fleet: null }, 'zone-data', 'warn', /does not tell/)
    finds(
      { machine: { zoneData: '2026b' } },
      'zone-data',
      'note',
      /Instances have time zone data 2026c, this command 2026b/,
    )
    const other = { ...INSTANCE, id: 'b', zoneData: '2025a' }
    finds({ fleet: { instances: [INSTANCE, other] } }, 'zone-data', 'warn', /different time zone data: 2025a, 2026c/)
  })

  test('a pod that is killed before its instance has drained', () => {
    finds(
      { machine: { isKubernetes: true, drainMs: 60_000 } },
      'grace',
      'warn',
      /drain for 1m; Kubernetes gives a pod 30s/,
    )
    assert.match(
      judged({ machine: { isKubernetes: true, drainMs: 60_000 } }).find(({ check }) => check === 'grace')!.hint!,
      /to 65 at least/,
    )
    finds({ machine: { isKubernetes: true } }, 'grace', 'note', /is not known here/)
    assert.equal(
      judged({ machine: { isKubernetes: true, drainMs: 20_000 } }).find(({ check }) => check === 'grace')!.level,
      'ok',
    )
  })

  test('a store that is slow, or whose clock is another', () => {
    const slow = [1_900, 2, 1_900, 1_900, 1].map((latencyMs) => ({ ...STORE_VIEW, latencyMs }))
    finds({ store: { checks: slow } }, 'latency', 'warn', /in 1900ms \(median of 5, slowest 1900ms\)/)
    const behind = [{ ...STORE_VIEW, offsetMs: -312 }]
    finds({ store: { checks: behind } }, 'clock', 'warn', /clock is 312ms behind the store's, give or take 1ms/)
    const unsure = [{ ...STORE_VIEW, offsetMs: 150, latencyMs: 200 }]
    assert.equal(
      judged({ store: { checks: unsure } }).find(({ check }) => check === 'clock')!.level,
      'ok',
      'it may be the network',
    )
  })

  test('a store that cannot be opened is one failure, named by what it lacks', () => {
    const trouble = (code: string) => ({
      store: { trouble: { code, message: 'No.', hint: 'Do it.' }, checks: [] },
      fleet: null,
    })
    finds(trouble('STORE_UNREACHABLE'), 'store', 'fail', /^No\. \(STORE_UNREACHABLE\)$/)
    finds(trouble('STORE_NOT_MIGRATED'), 'schema', 'fail', /STORE_NOT_MIGRATED/)
    finds(trouble('STORE_FORBIDDEN'), 'privileges', 'fail', /STORE_FORBIDDEN/)
    finds(trouble('STORE_COPIED'), 'copy', 'fail', /STORE_COPIED/)
    finds(trouble('STORE_ON_NETWORK'), 'file-system', 'fail', /STORE_ON_NETWORK/)
  })

  test('what the store warns about, its schema, its rights, its disk', () => {
    const warned = (code: string) => ({ store: { warnings: [{ code, message: 'Beware.' }] } })
    finds(warned('STORE_SETTING_UNSAFE'), 'settings', 'warn', /Beware/)
    finds(warned('STORE_EVICTS'), 'settings', 'warn', /STORE_EVICTS/)
    finds(warned('STORE_POOLED'), 'settings', 'warn', /STORE_POOLED/)
    finds(warned('STORE_PROMOTED'), 'copy', 'warn', /STORE_PROMOTED/)
    finds(warned('STORE_IDENTITY_UNKNOWN'), 'copy', 'note', /STORE_IDENTITY_UNKNOWN/)
    finds(warned('SOMETHING_NEW'), 'settings', 'warn', /SOMETHING_NEW/)
    finds({ store: { migration: { ...STORE.migration!, state: 'newer' } } }, 'schema', 'note', /by a newer version/)
    finds(
      { store: { write: { code: 'STORE_READONLY', message: 'No.', hint: null } } },
      'privileges',
      'fail',
      /STORE_READONLY/,
    )
    const place = { file: '/data/cronce.db', fileSystem: null, freeBytes: 5e9 }
    finds({ store: { place: { ...place, fileSystem: 'an overlay file system' } } }, 'file-system', 'warn', /vanishes/)
    finds({ store: { place: { ...place, freeBytes: 50e6 } } }, 'file-system', 'warn', /Only 50 MB/)
    finds({ store: { place: { ...place, freeBytes: 1e6 } } }, 'file-system', 'fail', /1 MB are free/)
  })

  test('work that belongs to labels which no live instance has, and schedules of hosts that have left', () => {
    const placed = troubled('no-runner', { name: 'backup', job: 'backup', on: { role: ['db'] } })
    finds({ fleet: { schedules: [placed] } }, 'orphans', 'fail', /no live instance has role=db/)
    const labelled = { ...INSTANCE, labels: { role: 'db' } }
    finds(
      { fleet: { schedules: [placed], instances: [labelled] } },
      'orphans',
      'fail',
      /no live instance has job "backup"/,
    )
    const gone = {
      ...SCHEDULE,
      name: 'sweep@web-9',
      job: 'sweep@web-9',
      on: { host: ['web-9'] },
      state: 'retired' as const,
    }
    finds({ fleet: { schedules: [gone] } }, 'retired', 'note', /schedule of a host is retired.*sweep@web-9/)
  })

  test('a fleet that has left, is drained, silent, dying, or whose clocks are off', () => {
    const gone = { ...INSTANCE, state: 'dead' as const }
    const orphan = troubled('no-runner')
    const late = troubled('no-runner', { dueSince: NOW - HOUR })
    const levels = (fleet: Partial<FleetFacts>) =>
      judged({ fleet }).flatMap(({ check, level }) => (level === 'ok' ? [] : [`${check} ${level}`]))
    assert.deepEqual(levels({ instances: [], schedules: [orphan] }), ['instances warn', 'orphans note'])
    assert.deepEqual(levels({ instances: [], schedules: [late] }), ['instances fail', 'orphans note'])
    assert.deepEqual(levels({ instances: [gone], schedules: [] }), ['instances note', 'silent note'])
    const drained = [{ ...INSTANCE, drain: true }]
    assert.deepEqual(levels({ instances: drained, schedules: [orphan] }), ['instances warn', 'orphans note'])
    const ofExec = { ...SCHEDULE, job: 'backup', nextAt: null, needsInstance: false }
    assert.deepEqual(levels({ instances: [], schedules: [ofExec] }), ['instances note'])
    assert.deepEqual(levels({ schedules: [SCHEDULE, ofExec] }), [], 'it needs no live instance')
    finds(
      { fleet: { instances: [INSTANCE, { ...gone, id: 'b' }] } },
      'silent',
      'note',
      /1 instance died within a day.*web-1/,
    )
    const silent = { ...INSTANCE, id: 'b', host: 'web-2', state: 'silent' as const, renewedAt: NOW - 40_000 }
    finds({ fleet: { instances: [INSTANCE, silent] } }, 'silent', 'warn', /b on web-2 \(40s\)/)
    finds(
      { fleet: { instances: [{ ...INSTANCE, clockOffsetMs: -450 }] } },
      'instance-clocks',
      'warn',
      /web-1 by -450ms/,
    )
    const set = { ...THRESHOLDS, clock: { ...THRESHOLDS.clock, offsetMs: 500 } }
    assert.deepEqual(
      levels({ instances: [{ ...INSTANCE, clockOffsetMs: -450 }], thresholds: new Map([['shop', set]]) }),
      [],
      'the app allows more',
    )
    const died = [1, 2, 3].map((count) => ({ ...gone, id: `d${count}`, endedAt: NOW - MINUTE }))
    finds({ fleet: { instances: [INSTANCE, ...died] } }, 'silent', 'warn', /keep dying: web-1: 3 instances died within/)
    const three = { ...THRESHOLDS, fleet: { ...THRESHOLDS.fleet, minInstances: 3 } }
    finds(
      { fleet: { thresholds: new Map([['shop', three]]) } },
      'instances',
      'warn',
      /Only 1 instance is live, expected are 3 \(app shop\)/,
    )
  })

  test('several deployments and versions: a rollout at first, then a mistake', () => {
    const older = { ...INSTANCE, id: 'b', deployment: 'v6', startedAt: NOW - 2 * DAY }
    finds(
      { fleet: { instances: [INSTANCE, older] } },
      'deployments',
      'warn',
      /App shop has 2 deployments live for 1d: v7, v6; those of v7 count/,
    )
    const fresh = { ...INSTANCE, startedAt: NOW - MINUTE }
    finds({ fleet: { instances: [fresh, older] } }, 'deployments', 'note', /live for 1m/)
    finds(
      { fleet: { deployments: [{ ...FLEET.deployments[0]!, active: 'v8' }] } },
      'deployments',
      'warn',
      /runs v7, but what v8 declared counts/,
    )
    finds(
      { fleet: { instances: [INSTANCE, { ...INSTANCE, id: 'b', version: '0.0.9' }] } },
      'versions',
      'warn',
      /0\.0\.9, 0\.1\.0/,
    )
    finds({ machine: { version: '0.2.0' } }, 'versions', 'note', /run cronce 0\.1\.0, this command is 0\.2\.0/)
    const elsewhere = { ...older, app: 'other' }
    assert.equal(
      judged({ fleet: { instances: [INSTANCE, elsewhere] } }).find(({ check }) => check === 'deployments')!.level,
      'ok',
      'two apps are two apps',
    )
  })

  describe('deployments of one app', () => {
    const older = { ...INSTANCE, id: 'b', deployment: 'v6', host: 'web-2', pid: 8, startedAt: NOW - MINUTE }
    const record = (id: string, declares: readonly string[], explicit = true) => ({
      ...{ id, explicit, declares, number: Number(id.slice(1)), firstReadyAt: NOW, readyAt: NOW },
      ...{ goneAt: null, onProbation: false, lost: false },
    })
    const withRecords = (...deployments: ReturnType<typeof record>[]) => ({
      deployments: [{ ...FLEET.deployments[0]!, deployments }],
    })

    test('that declare no job in common are warned about at once', () => {
      const fresh = { ...INSTANCE, startedAt: NOW - MINUTE }
      const records = withRecords(record('v6', ['mail'], false), record('v7', ['billing', 'report'], false))
      finds(
        { fleet: { instances: [fresh, older], ...records } },
        'deployments',
        'warn',
        /Live deployments of app shop declare no job in common: v7 on web-1:7 \(billing, report\) and v6 on web-2:8 \(mail\)\./,
      )
    })

    test('that declare one in common are a rollout', () => {
      const records = withRecords(record('v6', ['mail', 'report']), record('v7', ['billing', 'report']))
      finds({ fleet: { instances: [INSTANCE, older], ...records } }, 'deployments', 'note', /2 deployments live for 1m/)
    })

    test('of which some have an id and some have none are a failure', () => {
      const records = withRecords(record('v6', ['report'], false), record('v7', ['report']))
      finds(
        { fleet: { instances: [INSTANCE, older], ...records } },
        'deployments',
        'fail',
        /App shop mixes processes with a deployment id \(v7\) and without \(web-2:8\)/,
      )
      const gone = { fleet: { instances: [INSTANCE], ...records } }
      assert.equal(judged(gone).find(({ check }) => check === 'deployments')!.level, 'ok', 'one of them is gone')
    })

    test('of which a live one was refused a declaration are a failure, which names the process', () => {
      const refusal = {
        ...{ schedule: 'billing', deployment: 'v7', instance: INSTANCE.id, host: 'web-1', pid: 7, at: NOW },
        ...{ code: 'SCHEDULE_NAME_TAKEN', message: 'There is a schedule billing already.' },
      }
      const refused = { deployments: [{ ...FLEET.deployments[0]!, refused: [refusal] }] }
      finds(
        { fleet: refused },
        'declarations',
        'fail',
        /1 declaration of app shop is refused: billing\. On web-1:7: There is a schedule billing already\. \(SCHEDULE_NAME_TAKEN\)/,
      )
      const over = { deployments: [{ ...FLEET.deployments[0]!, refused: [{ ...refusal, instance: 'gone' }] }] }
      assert.equal(judged({ fleet: over }).find(({ check }) => check === 'declarations')!.level, 'ok')
    })

    test('are not counted for a process that declares nothing, such as a script that takes a lock', () => {
      const script = { ...older, jobs: [] }
      assert.equal(
        judged({ fleet: { instances: [INSTANCE, script] } }).find(({ check }) => check === 'deployments')!.level,
        'ok',
      )
    })
  })

  test('schedules that no instance runs, that are late, that wait, that are left over', () => {
    const orphan = troubled('no-runner', { name: 'old', job: 'gone' })
    finds(
      { fleet: { schedules: [SCHEDULE, orphan] } },
      'orphans',
      'fail',
      /1 active schedule has a job that no live instance can run: old \(job gone\)/,
    )
    const left = { ...orphan, app: 'shop' }
    const deployed = { ...INSTANCE, startedAt: NOW - 30_000 }
    finds(
      { fleet: { schedules: [SCHEDULE, left], instances: [deployed] } },
      'orphans',
      'note',
      /^old left the code and will be retired when the new deployment has been up for holdDown/,
    )
    finds({ fleet: { schedules: [SCHEDULE, left] } }, 'orphans', 'fail', /no live instance can run: old/)
    finds({ fleet: { schedules: [left, orphan], instances: [deployed] } }, 'orphans', 'fail', /1 active schedule has/)
    const unknownSteps = [{ schedule: 'flaky sync', dueAt: NOW, detail: 'It is not known how.' }]
    finds({ fleet: { unknownSteps } }, 'unknown-steps', 'warn', /^1 fire of the last 7 days .*: flaky sync\. It is not/)
    const fix = judged({ fleet: { unknownSteps } }).find(({ check }) => check === 'unknown-steps')!.hint!
    assert.match(
      fix,
      /cronce step resolve "flaky sync" STEP 20\S+Z --failed \(or --result JSON\), and cronce retry "flaky sync" 20\S+Z$/,
    )
    assert.deepEqual(
      judged({ fleet: { schedules: [{ ...orphan, problems: [], state: 'paused' }] } }).filter(
        ({ level }) => level !== 'ok',
      ),
      [],
      'a paused one is not missed',
    )
    finds({ fleet: { schedules: [{ ...SCHEDULE, state: 'retired' }] } }, 'retired', 'note', /1 schedule is retired/)
    const each = { ...SCHEDULE, name: `${SCHEDULE.name}@web-1` }
    finds(
      { fleet: { schedules: [{ ...SCHEDULE, state: 'retired' }, each] } },
      'retired',
      'note',
      /1 schedule is retired, since its job runs on each host now/,
    )
    finds(
      { fleet: { schedules: [troubled('overdue', { dueSince: NOW - 2 * MINUTE })] } },
      'overdue',
      'fail',
      /by up to 2m: report:ada/,
    )
    assert.equal(
      judged({ fleet: { schedules: [{ ...SCHEDULE, dueSince: NOW - 30_000 }] } }).find(
        ({ check }) => check === 'overdue',
      )!.level,
      'ok',
    )
    finds(
      { fleet: { schedules: [{ ...SCHEDULE, callMissingAt: NOW - DAY }] } },
      'calls',
      'warn',
      /No host has called cronce exec for 1 schedule .*: report:ada \(for 1d\)/,
    )
    const slot = { ...SCHEDULE, needsInstance: false, name: 'node-cron:x', job: 'cronce:node-cron' }
    finds(
      {
        fleet: { schedules: [{ ...slot, callMissingAt: NOW - DAY }] },
      },
      'calls',
      'warn',
      /node-cron has not asked for slots of 1 task that were due: node-cron:x \(for 1d\)/,
    )
    finds(
      { fleet: { schedules: [{ ...SCHEDULE, waitingSince: NOW - 5 * MINUTE }] } },
      'waiting',
      'note',
      /for up to 5m/,
    )
  })

  test('schedules of locks, elections and keys are never orphans, may fail, need no timeout; a term has no end', () => {
    const timeless = { needsInstance: false, nextAt: null, timeoutMs: null }
    const asides = ['lock', 'leader', 'once'].map((kind) => ({
      ...SCHEDULE,
      ...timeless,
      name: `cronce:${kind}:x`,
      job: `cronce:${kind}`,
      failedInRow: 7,
    }))
    const slot = { ...SCHEDULE, ...timeless, name: 'node-cron:x', job: 'cronce:node-cron' }
    const term = { ...RUN, job: 'cronce:leader', startedAt: NOW - 9 * DAY, timeoutMs: null }
    const found = judged({ fleet: { schedules: [SCHEDULE, ...asides, slot], runs: [term] } })
    assert.deepEqual(
      found.filter(({ level }) => level !== 'ok'),
      [],
    )
    const held = { ...term, job: 'cronce:lock', schedule: 'cronce:lock:x' }
    finds({ fleet: { schedules: [SCHEDULE, ...asides], runs: [held] } }, 'stuck', 'warn', /cronce:lock:x/)
  })

  test('runs that take too long', () => {
    const stuck = troubled('stuck', { oldestRun: { token: '17592186044417', startedAt: NOW - 2 * HOUR } })
    finds({ fleet: { schedules: [stuck] } }, 'stuck', 'warn', /the oldest for 2h: report:ada 17592186044417/)
    const old = { ...RUN, startedAt: NOW - 9 * DAY }
    assert.equal(
      judged({ fleet: { runs: [old] } }).find(({ check }) => check === 'stuck')!.level,
      'ok',
      'a rule judges',
    )
  })

  test('what the other rules of the watchdog find is reported in their words', () => {
    const names = { silent: 'no-success', missed: 'missed', slow: 'slow', late: 'late' } as const
    for (const [rule, check] of Object.entries(names)) {
      finds({ fleet: { schedules: [troubled(rule as Rule)] } }, check, 'warn', /report:ada \(as the rule says\)/)
    }
    const twice = { rule: 'duplicate', subject: 'cronce:detect:mail', text: 'executed again' } as const
    finds({ fleet: { internal: [twice] } }, 'duplicates', 'fail', /same work: mail \(executed again\)/)
    const silent = { rule: 'silent', subject: 'cronce:heartbeat:shop', text: 'no heartbeat for 3 min' } as const
    finds({ fleet: { internal: [silent] } }, 'no-success', 'warn', /heartbeat of shop \(no heartbeat for 3 min\)/)
  })

  test('schedules that fail, that were left in a pause, that have no timeout', () => {
    finds({ fleet: { schedules: [troubled('failing', { failedInRow: 4 })] } }, 'failing', 'warn', /report:ada \(4\)/)
    const pause = { at: NOW - 9 * DAY, untilAt: null, author: 'ada' }
    finds(
      { fleet: { schedules: [{ ...SCHEDULE, state: 'paused', pause }] } },
      'paused',
      'note',
      /report:ada \(9d, by ada\)/,
    )
    assert.deepEqual(
      judged({
        fleet: { schedules: [{ ...SCHEDULE, state: 'paused', pause: { ...pause, untilAt: NOW + DAY } }] },
      }).filter(({ level }) => level !== 'ok'),
      [],
    )
    finds(
      { fleet: { schedules: [{ ...SCHEDULE, timeoutMs: null }] } },
      'timeouts',
      'note',
      /1 active schedule has no timeout: report:ada/,
    )
  })

  test('a sample is called one', () => {
    const found = judged({ fleet: { isSample: true, isRunSample: true } })
    assert.match(found.find(({ check }) => check === 'timeouts')!.message, /^Of the first 1 schedule: every active/)
    assert.match(found.find(({ check }) => check === 'stuck')!.message, /no run takes .*; more than 1 run is open/)
  })

  test('every line that is not ok has a hint', () => {
    const all = [
      judged({ machine: { node: 'v20.0.0', zoneData: '2020a', isKubernetes: true, drainMs: 1e6 } }),
      judged({
        fleet: {
          schedules: (['no-runner', 'failing', 'silent', 'missed', 'slow', 'late'] as const).map((rule) => ({
            ...troubled(rule, { job: 'x', timeoutMs: null, failedInRow: 9 }),
          })),
          internal: [
            { rule: 'duplicate', subject: 'cronce:detect:mail', text: 'twice' },
            { rule: 'silent', subject: 'cronce:heartbeat:shop', text: 'none' },
          ],
        },
      }),
    ].flat()
    const silent = all.filter(({ level, hint }) => level !== 'ok' && hint === null)
    assert.deepEqual(silent, [])
    assert.ok(all.filter(({ level }) => level !== 'ok').length >= 6)
  })

  test('the page about doctor lists all checks, in their order', () => {
    const page = readFileSync(new URL('../../../docs/doctor.md', import.meta.url), 'utf8')
    const rows = [...page.slice(page.indexOf('## Checks')).matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name)
    assert.deepEqual(rows, [...CHECKS])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Declare, NEW_YEAR } from '../engine/fleet.ts'
import { watchedFleet } from './fleet.ts'

const MINUTE_MS = 60_000

describe('failing', () => {
  test('fires after three failed fires in a row, once, and resolves with the next success', async () => {
    const fleet = await watchedFleet()
    let isBroken = true
    await fleet.watched((app) =>
      app.job('report', '* * * * *', () => {
        if (isBroken) throw new Error('password=hunter2')
      }),
    )
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['failing'])
    assert.equal(fleet.messages.length, 1)
    assert.match(
      fleet.messages[0]!.text,
      /^- report: \d fires in a row failed \(noticed 20\d\d-01-01 00:0\d UTC\)\nThe work is tried/,
    )
    assert.equal(fleet.messages[0]!.command, 'cronce show report')
    assert.doesNotMatch(JSON.stringify(fleet.messages), /hunter2/)
    isBroken = false
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['failing'])
    assert.match(fleet.messages[1]!.text, /^It lasted for \d+ min, until 20\d\d-01-01 00:\d\d UTC\.\n- report$/)
    assert.equal(fleet.messages.length, 2)
    fleet.end()
  })

  test('fires when pauseAfter has paused the schedule, and resolves when it is resumed', async () => {
    const fleet = await watchedFleet()
    let isBroken = true
    const declare = { cron: '* * * * *', pauseAfter: 2 }
    await fleet.watched((app) =>
      app.job('report', declare, () => {
        if (isBroken) throw new Error('no')
      }),
    )
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['failing'])
    assert.match(fleet.messages[0]!.text, /paused after 2 failed fires/)
    isBroken = false
    await fleet.operator.schedules.resume('report')
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['failing'])
    fleet.end()
  })

  test('does not fire for a job that fails now and then', async () => {
    const fleet = await watchedFleet()
    let count = 0
    await fleet.watched((app) =>
      app.job('report', '* * * * *', () => {
        if (count++ % 3 !== 0) throw new Error('no')
      }),
    )
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('overdue', () => {
  /** One run at a time, and it blocks everything else on the instance. */
  const blocked = async (watch = {}) => {
    const fleet = await watchedFleet()
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    await fleet.watched(
      (app) => {
        app.job('long', { at: NEW_YEAR + 90_000, watch: { stuck: false } }, () => gate)
        app.job('report', { cron: '*/5 * * * *', watch: { silent: false, missed: false, late: false } }, () => {})
      },
      { concurrency: 1, watch },
    )
    return { fleet, open }
  }

  test('fires for what waits while a handler blocks the only place, and resolves when it is free', async () => {
    const { fleet, open } = await blocked()
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['overdue'])
    assert.match(fleet.messages[0]!.text, /^- report: due for \d+ min and not started/)
    open()
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['overdue'])
    fleet.end()
  })

  test('does not fire if the app or the job switches it off', async () => {
    const { fleet, open } = await blocked({ overdue: false })
    await fleet.advance('20m')
    assert.deepEqual(fleet.titles(), [])
    open()
    await fleet.advance('1m')
    fleet.end()
  })

  test('does not fire for a fire that waits its turn, nor for a paused schedule', async () => {
    const fleet = await watchedFleet()
    const long = { cron: '*/10 * * * *', overlap: 'queue', watch: { stuck: false, missed: false } } as const
    let open: () => void = () => {}
    await fleet.watched((app) => {
      app.job('queued', long, () => new Promise<void>((resolve) => (open = resolve)))
      app.job('paused', '* * * * *', () => {})
    })
    await fleet.operator.schedules.pause('paused')
    await fleet.advance('50m')
    assert.deepEqual(fleet.titles(), [])
    open()
    fleet.end()
  })
})

describe('silent', () => {
  test('fires if a schedule has no success when its own instants require one, and resolves with the next one', async () => {
    const fleet = await watchedFleet()
    let isBroken = false
    await fleet.watched((app) =>
      app.job('report', { cron: '0 * * * *', watch: { failing: false } }, () => {
        if (isBroken) throw new Error('no')
      }),
    )
    await fleet.advance('3h')
    assert.deepEqual(fleet.titles(), [])
    isBroken = true
    await fleet.advance('2h')
    assert.deepEqual(fleet.fired(), ['silent'])
    assert.match(fleet.messages[0]!.text, /^- report: a success was expected \d+ min ago/)
    isBroken = false
    await fleet.advance('90m')
    assert.deepEqual(fleet.resolved(), ['silent'])
    fleet.end()
  })

  test('fires by maxAge for a job that only runs when triggered', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', { watch: { silent: { maxAge: '26h' } } }, () => {}))
    await fleet.advance('25h')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('2h')
    assert.deepEqual(fleet.fired(), ['silent'])
    await fleet.operator.schedules.trigger('report')
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['silent'])
    fleet.end()
  })

  test('does not fire for a first run to come, nor after a pause', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => {
      app.job('first', '0 0 3 * *', () => {})
      app.job('paused', '0 * * * *', () => {})
    })
    await fleet.advance('3h')
    await fleet.operator.schedules.pause('paused')
    await fleet.advance('12h')
    await fleet.operator.schedules.resume('paused')
    await fleet.advance('3h')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('stuck', () => {
  const hanging = async (options: { readonly timeout?: '3h' }) => {
    const fleet = await watchedFleet()
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    await fleet.watched((app) =>
      app.job('report', { at: NEW_YEAR + MINUTE_MS, ...options, watch: { silent: false } }, () => gate),
    )
    return { fleet, open }
  }

  test('fires for a run that hangs without a timeout, and resolves when it ends', async () => {
    const { fleet, open } = await hanging({})
    await fleet.advance('55m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['stuck'])
    assert.match(fleet.messages[0]!.text, /a run is open for \d+ min, without a timeout/)
    open()
    await fleet.advance('5m')
    assert.deepEqual(fleet.resolved(), ['stuck'])
    fleet.end()
  })

  test('does not fire for a run that a timeout allows', async () => {
    const { fleet, open } = await hanging({ timeout: '3h' })
    await fleet.advance('2h')
    assert.deepEqual(fleet.titles(), [])
    open()
    fleet.end()
  })

  test('does not fire for a run that is no longer than usual', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app, { clock }) => app.job('report', '0 */3 * * *', () => clock.sleep(100 * MINUTE_MS)))
    await fleet.advance('3d')
    // The first one had no others to compare with.
    assert.ok(fleet.fired().length <= 1, fleet.fired().join())
    fleet.end()
  })
})

describe('slow and late', () => {
  test('slow fires for a run that takes far longer than the others, and resolves with the next one', async () => {
    const fleet = await watchedFleet()
    let minutes = 1
    await fleet.watched((app, { clock }) => app.job('report', '*/10 * * * *', () => clock.sleep(minutes * MINUTE_MS)))
    await fleet.advance('3h')
    assert.deepEqual(fleet.titles(), [])
    minutes = 8
    await fleet.advance('25m')
    minutes = 1
    assert.deepEqual(fleet.fired(), ['slow'])
    await fleet.advance('30m')
    assert.deepEqual(fleet.resolved(), ['slow'])
    fleet.end()
  })

  test('slow does not fire for the first runs, however long, nor for one whose duration varies', async () => {
    const fleet = await watchedFleet()
    let count = 0
    await fleet.watched((app, { clock }) =>
      app.job('report', '*/10 * * * *', () => clock.sleep((count++ % 3 === 2 ? 8 : 1) * MINUTE_MS)),
    )
    await fleet.advance('6h')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('late fires for a start far later than the others, and resolves with the next one on time', async () => {
    const fleet = await watchedFleet()
    const declare = { watch: { overdue: false, silent: false, missed: false } } as const
    await fleet.watched(
      (app, { clock }) => {
        app.job('report', { cron: '*/10 * * * *', ...declare }, () => {})
        app.job('blocks', { at: NEW_YEAR + 179 * MINUTE_MS }, () => clock.sleep(9 * MINUTE_MS))
      },
      { concurrency: 1 },
    )
    await fleet.advance('179m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('14m')
    assert.deepEqual(fleet.fired(), ['late'])
    await fleet.advance('20m')
    assert.deepEqual(fleet.resolved(), ['late'])
    fleet.end()
  })

  test('late does not fire for what waited its turn or was triggered', async () => {
    const fleet = await watchedFleet()
    let minutes = 1
    await fleet.watched((app, { clock }) =>
      app.job('report', { cron: '*/10 * * * *', overlap: 'queue', watch: { slow: false } }, () =>
        clock.sleep(minutes * MINUTE_MS),
      ),
    )
    await fleet.advance('3h')
    minutes = 14
    await fleet.advance('30m')
    minutes = 1
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('missed', () => {
  test('fires for due times that were lost in a long outage of the whole fleet, and resolves with the next run', async () => {
    const fleet = await watchedFleet()
    const member = await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}))
    await fleet.advance('10m')
    member.crash()
    await fleet.advance('2h')
    await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}))
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['missed'])
    assert.match(fleet.messages[0]!.text, /\d+ due times were missed in an outage of up to \d+ (min|h)/)
    assert.deepEqual(fleet.resolved(), ['missed'])
    fleet.end()
  })

  test('fires for a daily due time that was lost hours before the fleet came back', async () => {
    const fleet = await watchedFleet()
    const declare: Declare = (app) =>
      app.job('report', { cron: '0 3 * * *', misfire: 'skip', watch: { silent: false } }, () => {})
    const member = await fleet.watched(declare)
    await fleet.advance('2h')
    member.crash()
    await fleet.advance('9h')
    await fleet.watched(declare)
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['missed'])
    assert.match(fleet.messages[0]!.text, /1 due time was missed in an outage of up to 8 h/)
    fleet.end()
  })

  test('fires when several due times in a row are skipped for overlap, and resolves when one is run', async () => {
    const fleet = await watchedFleet()
    const declare = { cron: '*/5 * * * *', watch: { slow: false, silent: false } } as const
    let minutes = 32
    await fleet.watched((app, { clock }) => app.job('report', declare, () => clock.sleep(minutes * MINUTE_MS)))
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['missed'])
    assert.match(fleet.messages[0]!.text, /the last 3 due times were skipped/)
    minutes = 1
    await fleet.advance('20m')
    assert.deepEqual(fleet.resolved(), ['missed'])
    fleet.end()
  })

  test('does not fire for two due times that each run skips, although three of the last ends are skips', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app, { clock }) => app.job('report', '*/5 * * * *', () => clock.sleep(12 * MINUTE_MS)))
    await fleet.advance('3h')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('does not fire for a job that is set to skip more due times than that, but for an outage', async () => {
    const fleet = await watchedFleet()
    const watch = { slow: false, silent: false, missed: { skips: 10 } } as const
    const declare: Declare = (app, { clock }) =>
      app.job('report', { cron: '*/5 * * * *', watch }, () => clock.sleep(32 * MINUTE_MS))
    const member = await fleet.watched(declare)
    await fleet.advance('3h')
    assert.deepEqual(fleet.titles(), [])
    member.crash()
    await fleet.advance('2h')
    await fleet.watched(declare)
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['missed'])
    assert.match(fleet.messages[0]!.text, /missed in an outage/)
    fleet.end()
  })

  test('does not fire for a planned deploy of some minutes', async () => {
    const fleet = await watchedFleet()
    const first = await fleet.watched((app) => app.job('report', '* * * * *', () => {}))
    await fleet.advance('10m')
    await first.app.stop()
    await fleet.advance('5m')
    await fleet.watched((app) => app.job('report', '* * * * *', () => {}))
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('no-runner', () => {
  test('fires if no live instance has the job of an active schedule, and resolves when one has', async () => {
    const fleet = await watchedFleet()
    const only = await fleet.watched((app) => app.job('mail', {}, () => {}), { app: 'mailer' })
    await fleet.watched((app) => app.job('report', '* * * * *', () => {}))
    await fleet.operator.schedules.create('weekly-mail', { job: 'mail', cron: '0 * * * *' })
    await fleet.advance('10m')
    await only.app.stop()
    await fleet.advance('4m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['no-runner'])
    assert.match(fleet.messages[0]!.text, /^- weekly-mail: its job mail is on no live instance/)
    await fleet.watched((app) => app.job('mail', {}, () => {}), { app: 'mailer' })
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['no-runner'])
    fleet.end()
  })

  test('does not fire during a deploy, nor for a paused schedule', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '* * * * *', () => {}))
    const mailer = await fleet.watched((app) => app.job('mail', {}, () => {}), { app: 'mailer' })
    await fleet.operator.schedules.create('weekly-mail', { job: 'mail', cron: '0 * * * *' })
    await fleet.operator.schedules.create('other-mail', { job: 'gone', cron: '0 * * * *' })
    await fleet.operator.schedules.pause('other-mail')
    await fleet.advance('10m')
    await mailer.app.stop()
    await fleet.advance('3m')
    await fleet.watched((app) => app.job('mail', {}, () => {}), { app: 'mailer' })
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('fleet', () => {
  const declare: Parameters<Awaited<ReturnType<typeof watchedFleet>>['watched']>[0] = (app) =>
    app.job('report', '*/5 * * * *', () => {})

  test('fires if there are fewer instances than planned, and resolves when they are back', async () => {
    const fleet = await watchedFleet()
    const watch = { fleet: { minInstances: 2 } }
    const first = await fleet.watched(declare, { watch })
    await fleet.watched(declare, { watch })
    await fleet.advance('10m')
    assert.deepEqual(fleet.titles(), [])
    first.crash()
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['fleet'])
    assert.match(fleet.messages[0]!.text, /1 instance is live, expected are 2/)
    await fleet.watched(declare, { watch })
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['fleet'])
    fleet.end()
  })

  test('fires if instances keep dying on one host, and resolves an hour later', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(declare)
    for (let death = 0; death < 3; death++) {
      const dying = await fleet.watched(declare)
      await fleet.advance('2m')
      dying.crash()
      await fleet.advance('3m')
    }
    await fleet.advance('5m')
    assert.deepEqual(fleet.fired(), ['fleet'])
    assert.match(fleet.messages[0]!.text, /3 instances died within an hour/)
    await fleet.advance('70m')
    assert.deepEqual(fleet.resolved(), ['fleet'])
    fleet.end()
  })

  test('fires if two deployments are live for longer than a rollout takes', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(declare)
    const second = await fleet.watched(declare, { deployment: 'v2' })
    await fleet.advance('12m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['fleet'])
    assert.match(fleet.messages[0]!.text, /2 deployments are live/)
    await second.app.stop()
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['fleet'])
    fleet.end()
  })

  test('does not fire for processes that are restarted again and again', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(declare)
    for (let restart = 0; restart < 5; restart++) {
      const restarted = await fleet.watched(declare)
      await fleet.advance('2m')
      await restarted.app.stop()
      await fleet.advance('1m')
    }
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('does not fire for a rolling deploy', async () => {
    const fleet = await watchedFleet()
    const watch = { fleet: { minInstances: 2 } }
    const old = [await fleet.watched(declare, { watch }), await fleet.watched(declare, { watch })]
    await fleet.advance('5m')
    for (const member of old) {
      await member.app.stop()
      await fleet.advance('1m')
      await fleet.watched(declare, { watch, deployment: 'v2' })
      await fleet.advance('1m')
    }
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('clock', () => {
  test('fires for a clock that is far from the store’s, and resolves when that instance has left', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}))
    const skewed = await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}), { skewMs: 5_000 })
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['clock'])
    assert.match(fleet.messages[0]!.text, /its clock is \d+ ms off/)
    await skewed.app.stop()
    await fleet.advance('10m')
    assert.deepEqual(fleet.resolved(), ['clock'])
    fleet.end()
  })

  test('does not fire for a clock that is off by little', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}), { skewMs: 60 })
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

describe('store', () => {
  test('fires when the store was away, one message for all that it caused, and resolves', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', { cron: '*/5 * * * *', watch: { silent: false } }, () => {}))
    await fleet.advance('10m')
    const end = fleet.outage({ kind: 'throws' })
    await fleet.advance('8m')
    end()
    await fleet.advance('5m')
    assert.deepEqual(fleet.fired(), ['store'])
    assert.match(fleet.messages[0]!.text, /- outage: it did not answer for \d+ min/)
    await fleet.advance('20m')
    assert.deepEqual(fleet.resolved(), ['store'])
    fleet.end()
  })

  test('fires when the store is slow for minutes, and resolves when it is not', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}))
    await fleet.advance('10m')
    const end = fleet.outage({ kind: 'slow', requestMs: 1_000, answerMs: 500 })
    await fleet.advance('10m')
    assert.deepEqual(fleet.fired(), ['store'])
    assert.match(fleet.messages[0]!.text, /- latency: a call takes \d s/)
    end()
    await fleet.advance('15m')
    assert.deepEqual(fleet.resolved(), ['store'])
    assert.equal(fleet.messages.length, 2)
    fleet.end()
  })

  test('does not fire for probes of peers, which wait on purpose', async () => {
    const fleet = await watchedFleet({ probes: true })
    const members = [1, 2].map(() => fleet.watched((app) => app.job('report', '*/5 * * * *', () => {})))
    for (const { link } of await Promise.all(members)) {
      link.disturb(({ name }) => (name === 'probe' ? { kind: 'slow', answerMs: 3_000 } : null))
    }
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })

  test('fires when the store went back in time, and resolves', async () => {
    const fleet = await watchedFleet({ losesWrites: true })
    await fleet.watched((app) => app.job('report', '* * * * *', () => {}))
    await fleet.advance('10m')
    const back = fleet.keep()
    await fleet.advance('70s')
    back()
    await fleet.advance('5m')
    assert.deepEqual(fleet.fired(), ['store'])
    assert.match(fleet.messages[0]!.text, /- rollback: it went back in time/)
    await fleet.advance('20m')
    assert.deepEqual(fleet.resolved(), ['store'])
    fleet.end()
  })

  test('does not fire for some seconds without an answer', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '*/5 * * * *', () => {}))
    await fleet.advance('10m')
    const end = fleet.outage({ kind: 'throws' })
    await fleet.advance('10s')
    end()
    await fleet.advance('30m')
    assert.deepEqual(fleet.titles(), [])
    fleet.end()
  })
})

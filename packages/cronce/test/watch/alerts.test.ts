import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AlertMessage } from '../../src/alerts.ts'
import { boundedOutbox, type Message } from '../../src/model/alert.ts'
import { MessageRefused } from '../../src/watch/channel.ts'
import type { Declare, Member } from '../engine/fleet.ts'
import { watchedFleet } from './fleet.ts'

const broken: Declare = (app) =>
  app.job('report', '* * * * *', () => {
    throw new Error('no')
  })

describe('alerts', () => {
  test('three instances: one problem is one alert', async () => {
    const fleet = await watchedFleet()
    for (let count = 0; count < 3; count++) await fleet.watched(broken)
    await fleet.advance('1h')
    assert.deepEqual(fleet.fired(), ['failing'])
    assert.equal(fleet.messages.length, 1)
    fleet.end()
  })

  test('another instance takes over when the watching one dies, and repeats nothing', async () => {
    const fleet = await watchedFleet()
    for (let count = 0; count < 3; count++) await fleet.watched(broken)
    await fleet.advance('20m')
    const [fired] = fleet.told.filter(({ event }) => event.type === 'alert.fired')
    fired!.member.crash()
    await fleet.advance('30m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.end()
  })

  test('the watching instance dies between noticing and sending: its successor sends, once', async () => {
    const fleet = await watchedFleet()
    for (let count = 0; count < 3; count++) await fleet.watched(broken, { alerts: { gather: '30s' } })
    for (let second = 0; second < 3_600 && fleet.events('alert.fired').length === 0; second++) await fleet.advance('1s')
    assert.deepEqual(fleet.titles(), [])
    fleet.told.find(({ event }) => event.type === 'alert.fired')!.member.crash()
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.end()
  })

  test('500 schedules that fail are one message that counts them', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(
      (app) =>
        app.job('mail', {}, () => {
          throw new Error('no')
        }),
      { concurrency: 1_000 },
    )
    const entries = Array.from(
      { length: 500 },
      (_, index) => [`mail-${index}`, { job: 'mail', cron: '* * * * *' }] as const,
    )
    await fleet.operator.schedules.createMany(entries)
    await fleet.advance('15m')
    assert.equal(fleet.messages.length, 1)
    assert.equal(fleet.messages[0]!.count, 500)
    assert.equal(fleet.messages[0]!.subjects.length, 20)
    fleet.end()
  })

  test('a channel that fails is tried again, gets each message once and in order, and holds up no other', async () => {
    const fleet = await watchedFleet()
    let isDown = true
    let isBroken = true
    const got: AlertMessage['kind'][] = []
    const channel = (message: AlertMessage): void => {
      if (isDown) throw new Error('connection refused')
      got.push(message.kind)
    }
    const well: AlertMessage['kind'][] = []
    const channels = [channel, (message: AlertMessage) => void well.push(message.kind)]
    await fleet.watched(
      (app) =>
        app.job('report', '* * * * *', () => {
          if (isBroken) throw new Error('no')
        }),
      { alerts: { channels } },
    )
    await fleet.advance('10m')
    isBroken = false
    await fleet.advance('30m')
    assert.deepEqual(well, ['firing', 'resolved'])
    assert.deepEqual(got, [])
    isDown = false
    await fleet.advance('20m')
    assert.deepEqual(got, ['firing', 'resolved'])
    assert.deepEqual(well, ['firing', 'resolved'])
    fleet.end()
  })

  test('a message that its receiver refuses is given up, and holds up no later one', async () => {
    const fleet = await watchedFleet()
    const got: AlertMessage['kind'][] = []
    let isBroken = true
    const channel = (message: AlertMessage): void => {
      if (message.kind === 'firing') throw new MessageRefused('The receiver answered 400.')
      got.push(message.kind)
    }
    await fleet.watched(
      (app) =>
        app.job('report', '* * * * *', () => {
          if (isBroken) throw new Error('no')
        }),
      { alerts: { channels: [channel] } },
    )
    await fleet.advance('10m')
    isBroken = false
    await fleet.advance('20m')
    assert.deepEqual(got, ['resolved'])
    assert.deepEqual(await fleet.operator.alerts.unsent(), [])
    fleet.end()
  })

  test('a channel that never answers delays no job and is tried again', async () => {
    const fleet = await watchedFleet()
    let tries = 0
    const hang = (): Promise<void> => {
      tries++
      return new Promise(() => {})
    }
    await fleet.watched(
      (app, member) => {
        broken(app, member)
        app.job('other', '* * * * *', () => {})
      },
      { alerts: { channels: [hang] }, concurrency: 1 },
    )
    await fleet.advance('30m')
    assert.ok(tries > 1)
    const late = fleet.events('run.started').filter(({ job, latenessMs }) => job === 'other' && latenessMs > 1_000)
    assert.deepEqual(late, [])
    fleet.end()
  })

  test('a channel that delivers after its time, and heeds no signal, delivers once', async () => {
    const fleet = await watchedFleet()
    const got: AlertMessage['kind'][] = []
    const slow = async ({ kind }: AlertMessage): Promise<void> => {
      await member.clock.sleep(45_000)
      got.push(kind)
    }
    const member = await fleet.watched(broken, { alerts: { channels: [slow] } })
    await fleet.advance('1h')
    assert.deepEqual(got, ['firing'])
    assert.deepEqual(await fleet.operator.alerts.unsent(), [])
    fleet.end()
  })

  test('a receiver that takes longer than a channel waits gets a message few times, since the channel waits longer', async () => {
    const fleet = await watchedFleet()
    const tries: number[] = []
    // As fetch does: rejects as soon as the signal is aborted, while the receiver goes on.
    const slow = async (_: AlertMessage, { signal }: { readonly signal: AbortSignal }): Promise<void> => {
      tries.push(fleet.now())
      await member.clock.sleep(45_000, signal)
      signal.throwIfAborted()
    }
    const member = await fleet.watched(broken, { alerts: { channels: [slow] } })
    await fleet.advance('1h')
    assert.equal(tries.length, 4)
    assert.deepEqual(await fleet.operator.alerts.unsent(), [])
    fleet.end()
  })

  test('a problem of a schedule that is removed, or leaves the code, is over', async () => {
    for (const how of ['removed', 'dropped'] as const) {
      const fleet = await watchedFleet()
      const declare: Declare = (app) =>
        app.job('mail', how === 'dropped' ? { cron: '* * * * *' } : {}, () => {
          throw new Error('no')
        })
      const first = await fleet.watched(declare)
      if (how === 'removed') await fleet.operator.schedules.create('weekly', { job: 'mail', cron: '* * * * *' })
      await fleet.advance('10m')
      assert.deepEqual(fleet.fired(), ['failing'], how)
      if (how === 'removed') await fleet.operator.schedules.remove('weekly')
      else {
        await fleet.watched((app) => app.job('other', '* * * * *', () => {}), { deployment: 'v2' })
        await first.app.stop()
      }
      await fleet.advance('20m')
      assert.deepEqual(fleet.resolved(), ['failing'], how)
      assert.equal(fleet.messages.length, 2, how)
      fleet.end()
    }
  })

  test('a problem of a job that is renamed is one of its new name, in the same alert', async () => {
    const fleet = await watchedFleet()
    let isBroken = true
    const fails = (): void => {
      if (isBroken) throw new Error('no')
    }
    const first = await fleet.watched((app) => app.job('bill', '* * * * *', fails))
    await fleet.advance('10m')
    await fleet.watched((app) => app.job('invoice', { cron: '* * * * *', was: 'bill' }, fails), { deployment: 'v2' })
    await first.app.stop()
    await fleet.advance('30m')
    isBroken = false
    await fleet.advance('20m')
    assert.deepEqual(
      fleet.messages.map(({ kind }) => kind),
      ['firing', 'update', 'resolved'],
    )
    assert.equal(new Set(fleet.messages.map(({ alert }) => alert)).size, 1)
    const last = fleet.messages.at(-1)!
    assert.deepEqual([last.count, last.subjects.map(({ name }) => name)], [1, ['invoice']])
    fleet.end()
  })

  test('the store is away between noticing and sending, or while a message is sent: it is sent once', async () => {
    for (const when of ['noticed', 'sent'] as const) {
      const fleet = await watchedFleet()
      const rules: string[] = []
      let back = (): void => {}
      const channel = ({ rule, kind }: AlertMessage): void => {
        rules.push(`${rule} ${kind}`)
        if (when === 'sent' && rules.length === 1) back = fleet.outage({ kind: 'throws' })
      }
      for (let count = 0; count < 3; count++) {
        await fleet.watched(broken, { alerts: { gather: '30s', channels: [channel] }, watch: { failing: 3 } })
      }
      const isNoticed = (): boolean => fleet.events('alert.fired').length > 0
      for (let second = 0; second < 3_600 && !isNoticed(); second++) await fleet.advance('1s')
      if (when === 'noticed') back = fleet.outage({ kind: 'throws' })
      await fleet.advance('5m')
      back()
      await fleet.advance('30m')
      assert.deepEqual(
        rules.filter((each) => each.startsWith('failing')),
        ['failing firing'],
        when,
      )
      fleet.end()
    }
  })

  test('a firing alert is repeated, and reports new subjects', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(
      (app, member) => {
        broken(app, member)
        app.job('second', '0 1-3 * * *', () => {
          throw new Error('no')
        })
      },
      { watch: { failing: 1, silent: false } },
    )
    await fleet.advance('50m')
    assert.deepEqual(
      fleet.messages.map(({ kind, count }) => [kind, count]),
      [['firing', 1]],
    )
    await fleet.advance('6h')
    assert.deepEqual(
      fleet.messages.map(({ kind, count }) => [kind, count]),
      [
        ['firing', 1],
        ['update', 2],
        ['repeat', 2],
      ],
    )
    fleet.end()
  })

  test('a filter chooses, and a filtered alert is not sent later', async () => {
    const fleet = await watchedFleet()
    const got: string[] = []
    const channel = {
      name: 'ops',
      filter: ({ rule }: { readonly rule: string }) => rule !== 'failing',
      send: (message: AlertMessage) => void got.push(message.rule),
    }
    await fleet.watched(broken, { alerts: { channels: [channel] } })
    await fleet.advance('30m')
    assert.equal(fleet.events('alert.fired').length, 1)
    assert.deepEqual(got, [])
    fleet.end()
  })

  test('a channel that was sent an alert is sent its end, even if its filter excludes the last subjects', async () => {
    const fleet = await watchedFleet()
    const got: string[] = []
    const bad = new Set(['billing', 'report'])
    const channel = {
      name: 'billing',
      filter: ({ subjects }: { readonly subjects: readonly { readonly name: string }[] }) =>
        subjects.some(({ name }) => name === 'billing'),
      send: ({ kind }: AlertMessage) => void got.push(kind),
    }
    await fleet.watched(
      (app) => {
        for (const name of bad) {
          app.job(name, '* * * * *', () => {
            if (bad.has(name)) throw new Error('no')
          })
        }
      },
      { alerts: { channels: [channel] } },
    )
    await fleet.advance('10m')
    bad.delete('billing')
    await fleet.advance('20m')
    bad.delete('report')
    await fleet.advance('20m')
    assert.deepEqual(got, ['firing', 'resolved'])
    fleet.end()
  })

  test('a process of runDue does not take part in watching', async () => {
    const fleet = await watchedFleet()
    const declare: Declare = (app) => app.job('report', '* * * * *', () => new Promise<void>(() => {}))
    void fleet.make(declare, { app: 'shop', alerts: {} }).app.runDue()
    await fleet.advance('2m')
    void fleet.make(declare, { app: 'shop', alerts: {} }).app.runDue()
    await fleet.advance('1s')
    assert.ok((await fleet.operator.instances.list()).some(({ state }) => state === 'live'))
    await assert.rejects(fleet.operator.alerts.mute('report'), { code: 'APP_NOT_FOUND' })
    fleet.end()
  })

  test('an instance that has channels watches rather than those without', async () => {
    const fleet = await watchedFleet()
    for (let count = 0; count < 5; count++) await fleet.watched(broken, { alerts: { channels: [] } })
    await fleet.watched(broken)
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['failing'])
    assert.deepEqual(await fleet.operator.instances.list().then(([first]) => first!.jobs), ['report'])
    fleet.end()
  })

  test('costs one store call a minute and fleet while nothing is wrong', async () => {
    const calls = async (alerts: object): Promise<number> => {
      const fleet = await watchedFleet()
      const members: Member[] = []
      for (let count = 0; count < 3; count++) {
        members.push(await fleet.add((app) => app.job('report', '0 0 3 * *', () => {}), { app: 'shop', ...alerts }))
      }
      await fleet.advance('5m')
      const count = (): number =>
        members.reduce((sum, { link }) => sum + [...link.calls.values()].reduce((one, other) => one + other, 0), 0)
      const before = count()
      await fleet.advance('1h')
      fleet.end()
      return count() - before
    }
    const without = await calls({})
    const watched = await calls({ alerts: {} })
    assert.ok(watched - without <= 60, `${watched} calls with the watchdog, ${without} without`)
    assert.ok(watched - without >= 50, `${watched} calls with the watchdog, ${without} without`)
  })
})

describe('muting', () => {
  test('a muted subject sends nothing, and is reported once it is unmuted', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(broken)
    await fleet.advance('2m')
    const until = fleet.now() + 86_400_000
    const muted = await fleet.operator.alerts.mute('report', { until, note: 'being repaired', author: 'ann' })
    assert.deepEqual(muted, [{ app: 'shop', subject: 'report', untilAt: until, note: 'being repaired', author: 'ann' }])
    await fleet.advance('20m')
    assert.deepEqual(fleet.titles(), [])
    assert.deepEqual(
      (await fleet.operator.alerts.list()).map(({ rule, state }) => [rule, state]),
      [['failing', 'muted']],
    )
    assert.deepEqual(await fleet.operator.alerts.mutes(), muted)
    assert.equal(await fleet.operator.alerts.unmute('report'), true)
    assert.equal(await fleet.operator.alerts.unmute('report'), false)
    const { items } = await fleet.operator.activity.list()
    assert.deepEqual(
      items.map(({ action, subject, author, note }) => [action, subject.type, subject.name, author, note]),
      [
        ['unmute', 'alert', 'report', null, null],
        ['mute', 'alert', 'report', 'ann', 'being repaired'],
      ],
    )
    await fleet.advance('5m')
    assert.deepEqual(fleet.fired(), ['failing'])
    fleet.end()
  })

  test('an alert that was sent, then muted, is resolved by a message', async () => {
    const fleet = await watchedFleet()
    let isBroken = true
    const declare: Declare = (app) =>
      app.job('report', '* * * * *', () => {
        if (isBroken) throw new Error('no')
      })
    await fleet.watched(declare)
    await fleet.advance('10m')
    await fleet.operator.alerts.mute('failing')
    await fleet.advance('5m')
    isBroken = false
    await fleet.advance('20m')
    assert.deepEqual(
      fleet.messages.map(({ kind }) => kind),
      ['firing', 'resolved'],
    )
    assert.equal(fleet.events('alert.resolved').length, 1)
    // What was muted all the time was never sent, so its end is not, either.
    isBroken = true
    await fleet.advance('20m')
    isBroken = false
    await fleet.advance('20m')
    assert.equal(fleet.messages.length, 2)
    assert.equal(fleet.events('alert.resolved').length, 1)
    fleet.end()
  })

  test('a mute ends by itself', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(broken)
    await fleet.advance('2m')
    await fleet.operator.alerts.mute('failing', { until: fleet.now() + 3_600_000 })
    await fleet.advance('50m')
    assert.deepEqual(fleet.titles(), [])
    await fleet.advance('20m')
    assert.deepEqual(fleet.fired(), ['failing'])
    assert.deepEqual(await fleet.operator.alerts.mutes(), [])
    fleet.end()
  })

  test('a mute holds back messages that wait, and one too many is refused', async () => {
    const fleet = await watchedFleet()
    await fleet.watched(broken, { alerts: { gather: '10m' } })
    await fleet.advance('10m')
    assert.equal((await fleet.operator.alerts.unsent()).length, 1)
    await fleet.operator.alerts.mute('report')
    await fleet.advance('1h')
    assert.deepEqual(fleet.titles(), [])
    for (let count = 1; count < 200; count++) await fleet.operator.alerts.mute(`other-${count}`)
    await assert.rejects(fleet.operator.alerts.mute('one-more'), { code: 'QUEUE_FULL' })
    await fleet.operator.alerts.mute('report')
    assert.equal((await fleet.operator.alerts.mutes()).length, 200)
    fleet.end()
  })

  test('a test message reaches every channel', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '0 0 * * *', () => {}))
    await fleet.advance('2m')
    const [sent] = await fleet.operator.alerts.test()
    assert.deepEqual([sent!.app, sent!.rule], ['shop', 'test'])
    await fleet.advance('3m')
    assert.deepEqual(
      fleet.messages.map(({ kind, app }) => [kind, app]),
      [['test', 'shop']],
    )
    assert.deepEqual(await fleet.operator.alerts.unsent(), [])
    fleet.end()
  })

  test('a test message that finds no room is refused', async () => {
    const fleet = await watchedFleet()
    const down = (): void => {
      throw new Error('connection refused')
    }
    await fleet.watched((app) => app.job('report', '0 0 * * *', () => {}), { alerts: { channels: [down] } })
    await fleet.advance('2m')
    for (let count = 0; count < 50; count++) assert.equal((await fleet.operator.alerts.test()).length, 1)
    await assert.rejects(fleet.operator.alerts.test(), { code: 'QUEUE_FULL' })
    fleet.end()
  })

  test('the record of alerts and mutes is removed by force only', async () => {
    const fleet = await watchedFleet()
    await fleet.watched((app) => app.job('report', '0 0 * * *', () => {}))
    await fleet.operator.alerts.mute('report')
    await assert.rejects(fleet.operator.schedules.remove('cronce:alerts:shop'), { code: 'NAME_RESERVED' })
    assert.equal((await fleet.operator.alerts.mutes()).length, 1)
    await fleet.operator.schedules.remove('cronce:alerts:shop', { force: true })
    assert.deepEqual(await fleet.operator.alerts.mutes(), [])
    fleet.end()
  })

  test('refuses what it can’t do', async () => {
    const fleet = await watchedFleet()
    await assert.rejects(fleet.operator.alerts.mute('report'), { code: 'APP_NOT_FOUND' })
    await fleet.watched((app) => app.job('report', '0 0 * * *', () => {}))
    await assert.rejects(fleet.operator.alerts.mute('report', { until: 1 }), { code: 'OPTION_INVALID' })
    await assert.rejects(fleet.operator.alerts.mute('report', { app: 'other' }), { code: 'APP_NOT_FOUND' })
    await assert.rejects(fleet.operator.alerts.mute(''), { code: 'NAME_INVALID' })
    fleet.end()
  })
})

describe('a large store', () => {
  test('costs one call a minute, however many schedules there are, and what is overdue is found at once', async () => {
    const fleet = await watchedFleet()
    let open: () => void = () => {}
    const member = await fleet.watched(
      (app) => {
        app.job('yearly', {}, () => {})
        app.job('blocks', {}, () => new Promise<void>((resolve) => (open = resolve)))
      },
      { concurrency: 1, watch: { stuck: false, silent: false } },
    )
    const names = Array.from({ length: 2_000 }, (_, index) => `s${String(index).padStart(4, '0')}`)
    await fleet.operator.schedules.createMany(
      names.map((name) => [name, { job: 'yearly', cron: '0 0 1 7 *' }] as const),
    )
    await fleet.advance('5m')
    // The engine itself lists what locks have left behind once an hour, and looks for what is due when that is near.
    const looks = ['listSchedules', 'listEnds', 'due', 'load', 'listLatest', 'listInstances'] as const
    const calls = (): number => looks.reduce((sum, name) => sum + (member.link.calls.get(name) ?? 0), 0)
    const before = calls()
    await fleet.advance('1h')
    assert.ok(calls() - before <= 64, `${calls() - before} calls in an hour`)
    await fleet.operator.schedules.trigger('blocks')
    await fleet.advance('1s')
    await fleet.operator.schedules.trigger('s1999')
    await fleet.advance('6m')
    assert.deepEqual(fleet.fired(), ['overdue'])
    assert.equal(fleet.messages[0]!.subjects[0]!.name, 's1999')
    open()
    await fleet.advance('1s')
    fleet.end()
  })

  test('messages that wait for a channel are bounded, and the first one stays', async () => {
    const alert = {
      rule: 'failing',
      severity: 'critical',
      state: 'firing',
      firstAt: 0,
      lastAt: 0,
      subjects: [],
      count: 0,
    }
    const messages = Array.from({ length: 80 }, (_, index) => ({
      ...{ id: `m${index}`, kind: index === 0 ? 'firing' : 'repeat', at: index, sendAt: index, alert },
    })) as unknown as readonly Message[]
    const kept = boundedOutbox(messages)
    assert.deepEqual([kept.length, kept[0]!.id, kept.at(-1)!.id], [50, 'm0', 'm79'])
  })
})

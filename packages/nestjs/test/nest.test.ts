import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  Cron,
  Cronce,
  CronceModule,
  type CronceModuleOptions,
  CronExpression,
  type CronOptions,
  Interval,
  Job,
  SchedulerRegistry,
  Timeout,
} from '@cronce/nestjs'
import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { CronExpression as TheirExpression } from '@nestjs/schedule'
import { CronTime } from 'cron'
import { CronceError, cron, type ErrorCode, type Run } from 'cronce'
import { testKit } from 'cronce/testing'
import { judgeJobs } from './judge-jobs.ts'
import { scratchFolder, until } from './kit.ts'

const scratch = scratchFolder()
after(() => scratch.remove())

type Host = Awaited<ReturnType<typeof NestFactory.createApplicationContext>>
type Imports = (Type | DynamicModule)[]

/** A module as `@Module` makes it. */
function moduleOf(name: string, imports: Imports, providers: Provider[] = []): Type {
  const { [name]: made } = { [name]: class {} }
  Module({ imports, providers })(made!)
  return made!
}

function start(imports: Imports, providers: Provider[] = []): Promise<Host> {
  // Nest would end the process.
  return NestFactory.createApplicationContext(moduleOf('Root', imports, providers), {
    logger: false,
    abortOnError: false,
  })
}

/** What `@decorator method() {}` does. */
function decorate(provider: Type, method: string, decorator: MethodDecorator): Type {
  decorator(provider.prototype, method, Object.getOwnPropertyDescriptor(provider.prototype, method)!)
  return provider
}

/** A provider whose method `run` has these decorators. */
function providerOf(name: string, ...decorators: readonly unknown[]): Type {
  const { [name]: provider } = {
    [name]: class {
      run(_run: Run): void {}
    },
  }
  for (const decorator of decorators) decorate(provider!, 'run', decorator as MethodDecorator)
  return provider!
}

const MEMORY: CronceModuleOptions = { store: 'memory:', signals: false, logger: false }

async function refusal(work: () => unknown): Promise<{ readonly code: ErrorCode; readonly message: string }> {
  const error = await (async () => work())().then(
    () => assert.fail('nothing was refused'),
    (caught: unknown) => caught,
  )
  assert.ok(error instanceof CronceError, String(error))
  assert.ok(error.hint !== undefined)
  return error
}

judgeJobs(scratch.path)

test('@Timeout runs once per deployment, however often its processes start', async () => {
  const kit = testKit()
  let runs = 0
  class Seeder {
    seed(): void {
      runs++
    }
  }
  decorate(Seeder, 'seed', Timeout(0) as MethodDecorator)
  const created: boolean[] = []
  const watcher = {
    provide: 'watcher',
    inject: [Cronce],
    useFactory({ schedules }: Cronce) {
      const { trigger } = schedules
      const watched: typeof trigger = async (name, options) => {
        const triggered = await trigger(name, options)
        created.push(triggered.created)
        return triggered
      }
      Object.assign(schedules, { trigger: watched })
      return schedules
    },
  }
  for (const [index, deployment] of ['one', 'one', 'two'].entries()) {
    const options = { store: kit.store, deployment, signals: false }
    const context = await start([CronceModule.forRoot(options)], [Seeder, watcher])
    await until('the process has triggered the job', () => created.length > index)
    await kit.advance(0)
    await context.close()
  }
  assert.deepEqual([created, runs], [[true, false, true], 2])
})

describe('what is refused, and why', () => {
  const EVERY = '0 3 * * *'
  const cases: readonly (readonly [what: string, code: ErrorCode, pattern: RegExp, work: () => unknown])[] = [
    [
      'two methods with one name',
      'JOB_EXISTS',
      /"twice" is declared twice, in Root/,
      () =>
        start(
          [CronceModule.forRoot(MEMORY)],
          [providerOf('A', Job('twice', EVERY)), providerOf('B', Job('twice', EVERY))],
        ),
    ],
    [
      'a class that is a provider of two modules',
      'JOB_EXISTS',
      /"A.run" is declared twice, in .*One/,
      () => {
        const shared = providerOf('A', Cron(EVERY))
        return start([CronceModule.forRoot(MEMORY), moduleOf('One', [], [shared])], [shared])
      },
    ],
    [
      'two decorators without names on one method',
      'JOB_EXISTS',
      /"A.run" is declared twice/,
      () => start([CronceModule.forRoot(MEMORY)], [providerOf('A', Cron(EVERY), Interval(1_000))]),
    ],
    [
      'a name that the application declares itself',
      'JOB_EXISTS',
      /"mine" is declared twice/,
      () => {
        const own = {
          provide: 'own',
          inject: [Cronce],
          useFactory: (app: Cronce) => app.job('mine', {}, () => {}) && 1,
        }
        return start([CronceModule.forRoot(MEMORY)], [own, providerOf('A', Job('mine', EVERY))])
      },
    ],
    [
      'two modules',
      'OPTION_CONFLICT',
      /forRoot\(\) is imported more than once/,
      () => start([CronceModule.forRoot(MEMORY), CronceModule.forRoot({ ...MEMORY, namespace: 'b' })]),
    ],
    [
      'a class without a name',
      'NAME_INVALID',
      /class without a name/,
      () => start([CronceModule.forRoot(MEMORY)], [{ provide: 'x', useClass: providerOf('', Cron(EVERY)) }]),
    ],
    ['no store', 'STORE_MISSING', /store/, () => start([CronceModule.forRoot({ ...MEMORY, store: undefined })])],
    [
      'a wrong expression',
      'FIELDS_MISCOUNTED',
      /A\.run/,
      () => start([CronceModule.forRoot(MEMORY)], [providerOf('A', Cron('* *'))]),
    ],
    [
      'disabled',
      'OPTION_INVALID',
      /disabled: a process without/,
      () => Cron(EVERY, { disabled: true } as unknown as CronOptions),
    ],
    [
      'initialDelay',
      'OPTION_INVALID',
      /initialDelay/,
      () => Cron(EVERY, { initialDelay: 5 } as unknown as CronOptions),
    ],
    [
      'unrefTimeout',
      'OPTION_INVALID',
      /unrefTimeout/,
      () => Cron(EVERY, { unrefTimeout: true } as unknown as CronOptions),
    ],
    ['two zones', 'OPTION_CONFLICT', /timeZone and tz/, () => Cron(EVERY, { timeZone: 'UTC', tz: 'UTC' })],
    [
      'a zone and an offset',
      'OPTION_CONFLICT',
      /utcOffset and timeZone/,
      () => Cron(EVERY, { timeZone: 'UTC', utcOffset: 0 }),
    ],
    [
      'two rules of overlap',
      'OPTION_CONFLICT',
      /overlap/,
      () => Cron(EVERY, { waitForCompletion: true, overlap: 'skip' }),
    ],
    ['no expression', 'OPTION_INVALID', /expression or a Date/, () => Cron(5 as unknown as string)],
    ['no milliseconds', 'OPTION_INVALID', /@Interval takes milliseconds/, () => Interval('5s' as unknown as number)],
    ['a static method', 'OPTION_INVALID', /static/, () => (Job('a', EVERY) as MethodDecorator)(class {}, 'run', {})],
  ]
  for (const [what, code, pattern, work] of cases) {
    test(what, async () => {
      const error = await refusal(work)
      assert.equal(error.code, code, error.message)
      assert.match(error.message, pattern)
    })
  }
})

test('options of @nestjs/schedule become options of the job', async () => {
  const cases: readonly (readonly [name: string, decorator: unknown])[] = [
    ['once', Cron(new Date('2027-05-01T00:00:00Z'), { name: 'once' })],
    [
      'strict',
      Cron('0 3 * * *', { name: 'strict', threshold: 500, waitForCompletion: true, timeZone: 'Europe/Vienna' }),
    ],
    ['loose', Cron('0 3 * * *', { name: 'loose', waitForCompletion: false, utcOffset: 330 })],
    ['series', Interval('series', 90_000)],
  ]
  const context = await start(
    [CronceModule.forRoot(MEMORY)],
    cases.map(([name, decorator]) => providerOf(name, decorator)),
  )
  const { schedules } = context.get(Cronce)
  const [once, strict, loose, series] = await Promise.all(cases.map(([name]) => schedules.get(name)))
  assert.deepEqual(once!.trigger, { kind: 'at', at: Date.parse('2027-05-01T00:00:00Z') })
  assert.deepEqual(strict!.policy.misfire, { ...strict!.policy.misfire, graceMs: 500, late: 'skip' })
  assert.equal(strict!.policy.overlap.kind, 'skip')
  assert.equal(strict!.trigger?.kind === 'cron' && strict!.trigger.tz, 'Europe/Vienna')
  assert.equal(loose!.policy.overlap.kind, 'allow')
  assert.equal(loose!.trigger?.kind === 'cron' && loose!.trigger.tz, '+05:30')
  assert.deepEqual(series!.trigger, { kind: 'every', everyMs: 90_000, anchor: 0 })
  await context.close()
})

test('CronExpression has the expressions of @nestjs/schedule, and they mean the same', () => {
  assert.deepEqual({ ...CronExpression }, { ...TheirExpression })
  const from = Date.UTC(2027, 1, 26, 21, 59, 30)
  for (const expression of new Set(Object.values(CronExpression))) {
    const theirs = new CronTime(expression, 'UTC')
    let at = new Date(from)
    const expected = Array.from({ length: 5 }, () => {
      at = theirs.getNextDateFrom(at, 'UTC').toJSDate()
      return at.getTime()
    })
    assert.deepEqual(cron(expression, { tz: 'UTC' }).nextN(from, 5), expected, expression)
  }
})

test('app.close() lets runs end, and the options may come from other providers', async () => {
  class ConfigModule {}
  Module({ providers: [{ provide: 'CONFIG', useValue: 'memory:' }], exports: ['CONFIG'] })(ConfigModule)
  const order: string[] = []
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  class Slow {
    async run(): Promise<void> {
      begun.resolve()
      await finish.promise
      order.push('run ended')
    }

    onApplicationShutdown(): void {
      order.push('shutdown')
    }
  }
  decorate(Slow, 'run', Job('slow', {}) as MethodDecorator)
  const root = CronceModule.forRootAsync({
    imports: [ConfigModule],
    inject: ['CONFIG'],
    useFactory: async (store: string) => ({ ...MEMORY, store }),
  })
  const context = await start([root], [Slow])
  const app = context.get(Cronce)
  await app.schedules.trigger('slow')
  await begun.promise
  const closing = context.close()
  finish.resolve()
  await closing
  assert.deepEqual(order, ['run ended', 'shutdown'])
  assert.equal(app.instance, null)
})

test('SchedulerRegistry reads and changes the schedules of the fleet', async () => {
  const context = await start(
    [CronceModule.forRoot(MEMORY)],
    [providerOf('A', Cron('0 3 * * *', { name: 'report', timeZone: 'UTC' }))],
  )
  const registry = context.get(SchedulerRegistry)
  await registry.addCronJob('report:ada', { job: 'report', cron: '0 8 * * MON', input: { to: 'ada' } })
  await registry.addInterval('often', { job: 'report', every: '1h' })
  await registry.addTimeout('later', { job: 'report', at: '2099-01-01T00:00:00Z' })
  assert.deepEqual([...(await registry.getCronJobs()).keys()], ['report', 'report:ada'])
  assert.deepEqual([await registry.getIntervals(), await registry.getTimeouts()], [['often'], ['later']])
  assert.deepEqual(
    [await registry.doesExist('cron', 'report'), await registry.doesExist('interval', 'report')],
    [true, false],
  )
  const job = await registry.getCronJob('report:ada')
  assert.equal(job.nextDate()?.getUTCDay(), 1)
  assert.equal(job.lastDate(), null)
  await job.stop()
  assert.equal((await registry.getCronJob('report:ada')).schedule.state, 'paused')
  await job.start()
  assert.equal((await registry.getCronJob('report:ada')).schedule.state, 'active')
  await job.fireOnTick()
  await until('the fire that was asked for', async () => (await registry.getCronJob('report:ada')).lastDate() !== null)
  assert.equal(
    (await refusal(() => registry.addInterval('often', { job: 'report', every: '1h' }))).code,
    'SCHEDULE_EXISTS',
  )
  assert.equal((await refusal(() => registry.getCronJob('often'))).code, 'SCHEDULE_NOT_FOUND')
  assert.equal((await refusal(() => registry.deleteCronJob('report'))).code, 'SCHEDULE_IN_CODE')
  await registry.deleteCronJob('report:ada')
  await registry.deleteInterval('often')
  await registry.deleteTimeout('later')
  assert.deepEqual([...(await registry.getCronJobs()).keys()], ['report'])
  await context.close()
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { etcd } from '../../src/etcd.ts'
import { cronce } from '../../src/index.ts'
import { migrator, postgres } from '../../src/postgres.ts'
import { redis } from '../../src/redis.ts'
import { sqlite, sqliteFromUrl } from '../../src/sqlite.ts'
import { zookeeper } from '../../src/zookeeper.ts'

/** Mistakes as people make them, coming from other schedulers: each is refused or warned about, with its fix. */

interface Told {
  readonly code: string
  /** The message and the hint, or the warning. */
  readonly text: string
}

/** The error or the warnings about an app and a job in it. */
function toldAbout(options: object, declare: (app: { readonly job: (...args: unknown[]) => unknown }) => void): Told[] {
  const warnings: string[] = []
  const logger = { error: (line: string) => void warnings.push(line), warn: (line: string) => void warnings.push(line) }
  try {
    const app = cronce({ logger, ...options } as unknown as { store: string })
    declare(app as unknown as { job: (...args: unknown[]) => unknown })
  } catch (error) {
    const { code, message, hint, stack } = error as { code: string; message: string; hint: string; stack: string }
    assert.ok(stack.includes(message), 'Node.js prints the stack, which must say the same as the message.')
    return [{ code, text: `${message}\n${hint}` }]
  }
  return warnings.map((line) => ({ code: /\(([A-Z_]+)\)$/.exec(line)?.[1] ?? '', text: line }))
}

type JobCase = readonly [options: unknown, code: string, value: string | RegExp, fix: string | RegExp]

/** Options of `app.job('billing', options, handler)`. */
const JOBS: readonly JobCase[] = [
  // Names of other schedulers.
  [{ cron: '0 3 * * *', timezone: 'Europe/Paris' }, 'OPTION_UNKNOWN', '"Europe/Paris"', "Write tz: 'Europe/Paris'."],
  [{ cron: '0 3 * * *', timeZone: 'Europe/Paris' }, 'OPTION_UNKNOWN', '"timeZone"', "Write tz: 'Europe/Paris'."],
  [{ schedule: '0 3 * * *' }, 'OPTION_UNKNOWN', '"0 3 * * *"', "Write cron: '0 3 * * *'."],
  [{ pattern: '0 3 * * *' }, 'OPTION_UNKNOWN', '"pattern"', "Write cron: '0 3 * * *'."],
  [{ expression: '0 3 * * *' }, 'OPTION_UNKNOWN', '"expression"', "Write cron: '0 3 * * *'."],
  [{ cronTime: '0 3 * * *' }, 'OPTION_UNKNOWN', '"cronTime"', "Write cron: '0 3 * * *'."],
  [{ interval: '5m' }, 'OPTION_UNKNOWN', '"5m"', "Write every: '5m'."],
  [{ every: '5m', attempts: 3 }, 'OPTION_UNKNOWN', '3', 'For 3 runs in all write retry: 2.'],
  [{ every: '5m', retries: 3 }, 'OPTION_UNKNOWN', '3', 'Write retry: 3.'],
  [{ every: '5m', maxRetries: 3 }, 'OPTION_UNKNOWN', '"maxRetries"', 'Write retry: 3.'],
  [{ every: '5m', backoffLimit: 6 }, 'OPTION_UNKNOWN', '"backoffLimit"', 'Write retry: 6.'],
  [{ every: '5m', noOverlap: true }, 'OPTION_UNKNOWN', 'true', "Leave it out: overlap: 'skip' is the default"],
  [{ every: '5m', preventOverrun: false }, 'OPTION_UNKNOWN', 'false', "Write overlap: 'allow'."],
  [{ every: '5m', concurrencyPolicy: 'Forbid' }, 'OPTION_UNKNOWN', '"Forbid"', "Write overlap: 'queue', which"],
  [{ every: '5m', path: './jobs/billing.js' }, 'OPTION_UNKNOWN', '"path"', "Write file: './jobs/billing.js'."],
  [{ OnCalendar: 'daily' }, 'OPTION_UNKNOWN', '"daily"', "Write cron: '0 3 * * *': systemd's"],
  [{ every: '5m', Persistent: true }, 'OPTION_UNKNOWN', '"Persistent"', "Write misfire: 'latest'."],
  [{ every: '5m', RandomizedDelaySec: 30 }, 'OPTION_UNKNOWN', '30', "Write jitter: '30s'."],
  [{ fixedRate: 5_000 }, 'OPTION_UNKNOWN', '5000', "Write every: '5000ms'."],
  [{ fixedDelay: 5_000 }, 'OPTION_UNKNOWN', '5000', 'do not depend on when the run before ended'],
  [{ every: '5m', teamSize: 4 }, 'OPTION_UNKNOWN', '4', 'Write concurrency: 4.'],
  [{ cron: '0 0 3 * * *', hasSeconds: true }, 'OPTION_UNKNOWN', '"hasSeconds"', 'six fields begins with seconds'],
  [{ every: '5m', skipImmediate: true }, 'OPTION_UNKNOWN', '"skipImmediate"', 'only at its due times'],
  [{ every: '5m', concurrencyPolicy: 'Replace' }, 'OPTION_UNKNOWN', '"Replace"', "Write overlap: 'replace'."],
  [{ every: '5m', startingDeadlineSeconds: 200 }, 'OPTION_UNKNOWN', '200', "Write misfire: { window: '200s' }."],
  [{ every: '5m', activeDeadlineSeconds: 600 }, 'OPTION_UNKNOWN', '600', "Write timeout: '600s'."],
  [{ every: '5m', timeoutMs: 5_000 }, 'OPTION_UNKNOWN', '5000', "Write timeout: '5000ms'."],
  [{ every: '5m', timeoutSeconds: 30 }, 'OPTION_UNKNOWN', '30', "Write timeout: '30s'."],
  [{ every: '5m', runOnInit: true }, 'OPTION_UNKNOWN', 'true', 'app.schedules.trigger(name)'],
  [{ every: '5m', ttl: 60 }, 'OPTION_UNKNOWN', '60', "write timeout: '1h'"],
  [{ every: '5m', removeOnComplete: true }, 'OPTION_UNKNOWN', '"removeOnComplete"', "Write retention: '7d'"],
  [{ every: '5m', maxRuns: 3 }, 'OPTION_UNKNOWN', '3', 'Write limit: 3.'],
  [{ every: '5m', payload: 'x' }, 'OPTION_UNKNOWN', '"payload"', "Write input: 'x'."],
  [{ every: '5m', enabled: false }, 'OPTION_UNKNOWN', 'false', 'app.schedules.pause(name)'],
  [{ every: '5m', priority: 1 }, 'OPTION_UNKNOWN', '"priority"', 'Leave it out'],
  [{ every: '5m', onTick: () => {} }, 'OPTION_UNKNOWN', 'a function', 'The function is the last argument'],
  [{ every: '5m', name: 'x' }, 'OPTION_UNKNOWN', '"name"', 'The name is the first argument'],
  [{ every: '5m', lease: '1m' }, 'OPTION_UNKNOWN', '"1m"', 'belongs to the app: cronce({ lease: … })'],
  [{ minutes: 5 }, 'OPTION_UNKNOWN', '5', "Write every: '5m'."],
  [{ every: '5m', coalesce: true }, 'OPTION_UNKNOWN', '"coalesce"', "Write misfire: 'latest'."],
  [{ every: '5m', catchUp: true }, 'OPTION_UNKNOWN', '"catchUp"', "Write misfire: 'all'."],
  [{ every: '5m', pause_after: 3 }, 'OPTION_UNKNOWN', '"pause_after"', 'Did you mean pauseAfter?'],
  [{ every: '5m', withoutOverlapping: true }, 'OPTION_UNKNOWN', 'true', "Leave it out: overlap: 'skip' is the default"],
  [{ every: '5m', tags: ['mail'] }, 'OPTION_UNKNOWN', '"tags"', "a prefix, such as 'mail:weekly'"],
  [{ every: '5m', isolate: 'process' }, 'OPTION_UNKNOWN', '"process"', "is for a job with a file: file: './task.js'"],
  [
    { every: '5m', env: { A: 'b' } },
    'OPTION_UNKNOWN',
    '"env"',
    "is for a job with a command: command: ['pg_dump', 'app']",
  ],
  [
    { every: '5m', startDate: new Date(0) },
    'OPTION_UNKNOWN',
    'a Date',
    "Write start: new Date('1970-01-01T00:00:00.000Z').",
  ],
  [{ every: '5m', endDate: '2027-01-01' }, 'OPTION_UNKNOWN', '"2027-01-01"', "Write end: '2027-01-01T00:00:00Z'."],
  [{ every: '5m', until: 'tomorrow' }, 'OPTION_UNKNOWN', '"tomorrow"', "such as end: '2027-01-01T00:00:00Z'."],
  [{ every: '5m', tiemout: '5m' }, 'OPTION_UNKNOWN', '"tiemout"', 'Did you mean timeout?'],
  // Wrong nesting.
  [{ every: '5m', backoff: { delay: 1_000 } }, 'OPTION_UNKNOWN', '"backoff"', 'Write retry: { attempts: 3, backoff:'],
  [{ every: '5m', window: '1h' }, 'OPTION_UNKNOWN', '"1h"', "Write misfire: { window: '1h' }."],
  [{ every: '5m', retry: { timeout: '5s' } }, 'OPTION_UNKNOWN', '"retry.timeout"', "Write retry: { deadline: '5s' }."],
  [{ every: '5m', retry: { retries: 3 } }, 'OPTION_UNKNOWN', '"retry.retries"', 'Write retry: { attempts: 3 }.'],
  [{ every: '5m', retry: { delay: '5s' } }, 'OPTION_UNKNOWN', '"retry.delay"', "backoff: { base: '5s' }"],
  [{ every: '5m', retry: { overlap: 'skip' } }, 'OPTION_UNKNOWN', '"retry.overlap"', 'stands beside retry, not in it'],
  [{ cron: { pattern: '0 3 * * *' } }, 'OPTION_UNKNOWN', '"cron.pattern"', "Write cron: { expression: '0 3 * * *' }."],
  [{ every: { minutes: 5 } }, 'OPTION_UNKNOWN', '"every.minutes"', "Write every: '5m'."],
  [{ every: '5m', retry: { backoff: { type: 'exponential' } } }, 'OPTION_UNKNOWN', '"exponential"', 'grow by factor'],
  [{ cron: '0 22-2 * * *', wrap: true }, 'OPTION_UNKNOWN', '"wrap"', "Write cron: { expression: '…', wrap: true }."],
  // Misspelled and foreign policies.
  [{ every: '5m', misfire: 'last' }, 'OPTION_INVALID', '"last"', "Write misfire: 'latest'."],
  [{ every: '5m', misfire: 'ignore' }, 'OPTION_INVALID', '"ignore"', "Write misfire: 'skip'."],
  [{ every: '5m', misfire: 'nonsense' }, 'OPTION_INVALID', '"nonsense"', "Write one of 'skip', 'latest', 'all'."],
  [{ every: '5m', overlap: 'Forbid' }, 'OPTION_INVALID', '"Forbid"', "Write overlap: 'queue', which"],
  [{ every: '5m', overlap: false }, 'OPTION_INVALID', 'false', "Write overlap: 'skip'."],
  [{ every: '5m', overlap: 'skp' }, 'OPTION_INVALID', '"skp"', "Did you mean 'skip'?"],
  [{ every: '5m', guarantee: 'once' }, 'OPTION_INVALID', '"once"', "Write guarantee: 'exactly-once'."],
  [{ every: '5m', guarantee: 'exactly_once' }, 'OPTION_INVALID', '"exactly_once"', "'exactly-once'"],
  [{ every: '5m', guarantee: 'exactly' }, 'OPTION_INVALID', '"exactly"', "Did you mean 'exactly-once'?"],
  [{ every: '5m', hosts: 'some' }, 'OPTION_INVALID', 'expected each.', "Write hosts: 'each'."],
  // Wrong types and ranges.
  [{ every: '5m', pauseAfter: '3 failures' }, 'OPTION_INVALID', '"3 failures"', 'Write pauseAfter: 3.'],
  [{ every: '5m', timeout: '1h30' }, 'OPTION_INVALID', '"1h30"', "Write timeout: '1h30m'."],
  [{ every: '5m', group: 'db' }, 'OPTION_INVALID', '"db"', "Write group: { name: 'db', limit: 4 }."],
  [{ every: '5m', group: { name: 'db' } }, 'OPTION_INVALID', 'group.limit', "Write group: { name: 'db', limit: 4 }."],
  [{ every: '5m', command: 'ls | wc' }, 'OPTION_INVALID', '"ls | wc"', "Write command: 'ls | wc', shell: true; or"],
  [{ every: '5m', payload: { id: 5 } }, 'OPTION_UNKNOWN', 'an object', 'Write input: { … }.'],
  [{ every: '5m', retry: '3' }, 'OPTION_INVALID', '"3"', 'Write retry: 3.'],
  [{ every: '5m', retry: -1 }, 'OPTION_INVALID', '-1', 'Write retry: 0.'],
  [{ every: '5m', retry: null }, 'OPTION_INVALID', 'null', 'Leave it out, or write retry: 1.'],
  [{ every: '5m', retry: true }, 'OPTION_INVALID', 'true', 'Write retry: 1.'],
  [{ every: '5m', retry: 5_000 }, 'OPTION_INVALID', '5000', 'Write retry: 1000.'],
  [{ every: '5m', concurrency: '10' }, 'OPTION_INVALID', '"10"', 'Write concurrency: 10.'],
  [{ every: '5m', concurrency: 0 }, 'OPTION_INVALID', '0', 'Write concurrency: 1.'],
  [{ every: '5m', timeout: '30' }, 'OPTION_INVALID', '"30"', "Add the unit: timeout: '30s' or '30ms'."],
  [{ every: '5m', timeout: '5 minutes' }, 'OPTION_INVALID', '"5 minutes"', "Write timeout: '5m'."],
  [{ every: '5m', timeout: -5 }, 'OPTION_INVALID', '-5', "Write timeout: '5m'."],
  [{ every: '5m', timeout: Number.NaN }, 'OPTION_INVALID', 'NaN', "Write timeout: '5m'."],
  [{ every: '5m', timeout: 0 }, 'OPTION_INVALID', '0', 'Leave it out: without timeout, a run may take any time.'],
  [{ every: '5m', timeout: '1y' }, 'OPTION_INVALID', '"1y"', "Write timeout: '365d'."],
  [{ every: '1 month' }, 'OPTION_INVALID', '"1 month"', "Write cron: '0 0 1 * *'."],
  [{ every: '3 months' }, 'OPTION_INVALID', '"3 months"', "Write cron: '0 0 1 */3 *'."],
  [{ every: 'year' }, 'OPTION_INVALID', '"year"', "Write cron: '0 0 1 1 *'."],
  [{ every: '1 hour' }, 'OPTION_INVALID', '"1 hour"', "Write every: '1h'."],
  [{ every: 'PT5M' }, 'OPTION_INVALID', '"PT5M"', "Write every: '5m'."],
  [{ every: '*/5 * * * *' }, 'OPTION_INVALID', '"*/5 * * * *"', "Write cron: '*/5 * * * *'."],
  [{ every: 5 }, 'OPTION_INVALID', '5', "Numbers are milliseconds. Write every: '5s'."],
  [{ every: '0s' }, 'OPTION_INVALID', '"0s"', "Write every: '5m'."],
  [{ cron: '5m' }, 'OPTION_INVALID', '"5m"', "Write { every: '5m' }."],
  [{ cron: 60_000 }, 'OPTION_INVALID', '60000', "Write every: '60000ms'"],
  [{ cron: 5 }, 'OPTION_INVALID', '5', "Write every: '5s'"],
  [{ cron: 'every 5 minutes' }, 'OPTION_INVALID', '"every 5 minutes"', "Write { every: '5m' }."],
  [{ cron: 'rate(5 minutes)' }, 'OPTION_INVALID', '"rate(5 minutes)"', "Write { every: '5m' }."],
  [{ cron: '2027-01-01T00:00:00Z' }, 'OPTION_INVALID', '2027-01-01', "Write { at: '2027-01-01T00:00:00Z' }"],
  [{ at: '2027-01-01' }, 'OPTION_INVALID', '"2027-01-01"', "Write at: '2027-01-01T00:00:00Z'."],
  [{ at: '2027-01-01 12:00' }, 'OPTION_INVALID', '12:00', "Write at: '2027-01-01T12:00:00Z'."],
  [{ at: '2027-01-01 12:00:30 +0200' }, 'OPTION_INVALID', '12:00', "Write at: '2027-01-01T12:00:30+02:00'."],
  [{ cron: ['0 3 * * *', '0 18 * * *'] }, 'OPTION_INVALID', 'an array', 'a second schedule for the job'],
  [{ every: '5m', command: [] }, 'OPTION_INVALID', 'an empty array', "Write command: ['pg_dump'"],
  [{ at: 'tomorrow' }, 'OPTION_INVALID', '"tomorrow"', "such as at: '2027-01-01T00:00:00Z'."],
  [{ every: '5m', tenant: 5 }, 'NAME_INVALID', '5', '1 to 200 characters'],
  [{ every: '5m', schema: {} }, 'OPTION_INVALID', 'schema', 'Zod'],
  [{ every: '5m', input: new Map() }, 'INPUT_INVALID', 'a Map', 'Object.fromEntries(map)'],
  // Unset variables.
  [
    undefined,
    'OPTION_INVALID',
    'Job "billing": The option cron is undefined.',
    'write {} for a job without a schedule',
  ],
  [{ cron: undefined }, 'OPTION_INVALID', 'The option cron is undefined.', 'Check the variable that it comes from'],
  [{ every: undefined, retry: 1 }, 'OPTION_INVALID', 'The option every is undefined.', 'or leave out every if'],
  [{ at: undefined }, 'OPTION_INVALID', 'The option at is undefined.', 'Check the variable'],
  // Expressions.
  [{ cron: '60 * * * *' }, 'VALUE_OUT_OF_RANGE', '"60 * * * *"', 'from 0 to 59'],
  [{ cron: '0 24 * * *' }, 'VALUE_OUT_OF_RANGE', '24', 'Midnight is hour 0.'],
  [{ cron: '0 3 * *' }, 'FIELDS_MISCOUNTED', '"0 3 * *"', /\n\S+/],
  [{ cron: '0 3 30 2 *' }, 'OPTION_INVALID', '"0 3 30 2 *"', '30 February does not come'],
  [{ cron: '0 3 31 4 *' }, 'OPTION_INVALID', '"0 3 31 4 *"', '31 April does not come'],
  [{ cron: '0 22-2 * * *' }, 'RANGE_BACKWARD', '22-2', "set the option wrap: cron: { expression: '…', wrap: true }"],
  [
    { cron: '0 3 * * * root' },
    'NAME_UNKNOWN',
    'root',
    'A command does not belong in the expression, which is "0 3 * * *"',
  ],
  [{ cron: '0 3 * * * /usr/bin/backup' }, 'CHARACTER_UNEXPECTED', '/usr/bin/backup', 'A command does not belong'],
  [{ cron: '0 3 * * * root /usr/bin/backup --all x' }, 'FIELDS_MISCOUNTED', '"0 3', 'A command does not belong'],
  [{ cron: '@dayly' }, 'MACRO_UNKNOWN', '@dayly', 'Did you mean @daily?'],
  [{ cron: '@reboot' }, 'OPTION_INVALID', '@reboot', 'Do it where the application starts'],
  [{ cron: '0 3 * * FUN' }, 'NAME_UNKNOWN', 'FUN', 'SUN'],
  [{ cron: '' }, 'EXPRESSION_EMPTY', /empty|nothing/i, /\n\S+/],
  // Zones.
  [{ cron: '0 3 * * *', tz: 'Europe/Pariss' }, 'ZONE_UNKNOWN', '"Europe/Pariss"', 'Did you mean Europe/Paris?'],
  [{ cron: '0 3 * * *', tz: 'EDT' }, 'ZONE_UNKNOWN', '"EDT"', 'Use America/New_York.'],
  [{ cron: '0 3 * * *', tz: 'GMT+2' }, 'ZONE_UNKNOWN', '"GMT+2"', 'Use +02:00'],
  [{ cron: '0 3 * * *', tz: 'New York' }, 'ZONE_UNKNOWN', '"New York"', 'Use America/New_York.'],
  [{ cron: '0 3 * * *', tz: 'local' }, 'ZONE_UNKNOWN', '"local"', 'Name the zone'],
  [{ cron: '0 3 * * *', tz: 2 }, 'OPTION_INVALID', 'a number', 'tz'],
  [{ cron: '0 3 * * *', tz: 'EST' }, 'ZONE_SUSPICIOUS', "'EST'", "Write tz: 'America/New_York'"],
  [{ cron: '0 3 * * *', tz: 'BST' }, 'ZONE_SUSPICIOUS', "'BST'", "Write tz: 'Europe/London', or tz: 'Asia/Dhaka' if"],
  [{ cron: '0 3 * * *', tz: 'Etc/GMT+5' }, 'ZONE_SUSPICIOUS', "'Etc/GMT+5'", "Write tz: '-05:00'"],
  // Contradictions.
  [{ cron: '0 3 * * *', every: '5m' }, 'OPTION_CONFLICT', 'cron and every', 'Make a schedule for each.'],
  [{ every: '5m', tz: 'Europe/Paris' }, 'OPTION_CONFLICT', 'tz', 'Leave out tz, or add cron.'],
  [{ every: '5m', guarantee: 'at-most-once', retry: 3 }, 'OPTION_CONFLICT', 'at-most-once', 'Leave out retry'],
  [{ start: '2027-01-01T00:00:00Z' }, 'OPTION_CONFLICT', 'start', 'add cron, every or at'],
  [{ every: '5m', misfire: { grace: '2h', window: '1h' } }, 'OPTION_CONFLICT', 'misfire.grace', 'at least as long'],
  [{ every: '5m', was: 'billing' }, 'OPTION_CONFLICT', '"billing"', 'Write the old name'],
  [{ every: '5m', job: 'x' }, 'OPTION_UNKNOWN', '"job"', 'app.schedules.create'],
  // Suspicious values.
  [{ every: '5m', timeout: 30 }, 'DURATION_SUSPICIOUS', '30 milliseconds', "Write timeout: '30s'"],
  [{ every: 60 }, 'DURATION_SUSPICIOUS', '60 milliseconds', "Write every: '1m'"],
  [{ every: 3_600 }, 'DURATION_SUSPICIOUS', '3600 milliseconds', "Write every: '1h'"],
  [{ every: '5m', jitter: 30 }, 'DURATION_SUSPICIOUS', '30', "Write jitter: '30s'"],
  [{ every: '5m', misfire: { grace: 60 } }, 'DURATION_SUSPICIOUS', 'misfire.grace', "Write grace: '1m'"],
  [{ every: '5m', retry: { attempts: 3, backoff: { base: 5 } } }, 'DURATION_SUSPICIOUS', '5', "Write base: '5s'"],
  [{ at: 1_900_000_000 }, 'INSTANT_SUSPICIOUS', '1900000000', 'Write at: 1900000000000'],
  [{ every: '5m', start: 1_900_000_000 }, 'INSTANT_SUSPICIOUS', '1900000000', 'Write start: 1900000000000'],
  [{ every: '5m', end: 1_900_000_000 }, 'INSTANT_SUSPICIOUS', '1900000000', 'Write end: 1900000000000'],
  [{ cron: '* 3 * * *' }, 'CRON_SUSPICIOUS', "'* 3 * * *'", "Write '0 3 * * *' for once a day"],
  [
    { cron: '* * 3 * * *' },
    'CRON_SUSPICIOUS',
    'every second from 03:00:00 to 03:59:59',
    "Write '0 0 3 * * *' for once a day",
  ],
  [
    { cron: '* 0 3 * * *' },
    'CRON_SUSPICIOUS',
    '60 times in every minute that matches',
    "Write '0 0 3 * * *' for once a minute",
  ],
  [{ cron: '* */5 * * * *' }, 'CRON_SUSPICIOUS', '60 times in every minute that matches', "Write '0 */5 * * * *'"],
  [
    { cron: '0 0 12 ? * 2 2027' },
    'CRON_SUSPICIOUS',
    '2 is Tuesday here, and Monday in Quartz',
    'Write MON, or dialect:',
  ],
  [{ cron: '0 0 12 ? * 2-6' }, 'CRON_SUSPICIOUS', '2 is Tuesday', 'Write MON-FRI, or'],
  [{ cron: '0 0 12 ? * 6#3' }, 'CRON_SUSPICIOUS', '6 is Saturday', 'Write FRI#3, or'],
  [{ cron: '*/45 * * * *' }, 'CRON_SUSPICIOUS', 'after minute 45 comes minute 0', "Write every: '45m'"],
  [{ cron: '0 */5 * * *' }, 'CRON_SUSPICIOUS', 'starts again every day', "Write every: '5h' for a steady interval"],
]

test(`each of ${JOBS.length} mistakes in a job is reported with a code, the job, the value and the fix`, () => {
  for (const [options, code, value, fix] of JOBS) {
    const told = toldAbout({ store: 'memory:' }, (app) => app.job('billing', options, () => {}))
    const what = `${JSON.stringify(options)}\n${told.map(({ text }) => text).join('\n')}`
    assert.equal(told.length, 1, `told once: ${what}`)
    const { text } = told[0]!
    assert.equal(told[0]!.code, code, what)
    assert.ok(text.includes('"billing"'), `the job: ${what}`)
    assert.ok(typeof value === 'string' ? text.includes(value) : value.test(text), `the value: ${what}`)
    assert.ok(typeof fix === 'string' ? text.includes(fix) : fix.test(text), `the fix: ${what}`)
  }
})

/** Durations, instants and expressions in a form that is not ours: an option of the job, its value, and the whole hint. */
const FORMS: readonly (readonly [option: string, value: unknown, hint: string])[] = [
  ['timeout', '2 years', "Write timeout: '365d'."],
  ['timeout', '200 years', "Write timeout: '365d'."],
  ['timeout', '1 month', "Write timeout: '30d'."],
  ['timeout', '5 minutes', "Write timeout: '5m'."],
  ['timeout', 'an hour', "Write timeout: '1h'."],
  ['timeout', 'hour', "Write timeout: '1h'."],
  ['timeout', '0.1ms', "Write timeout: '1ms'."],
  ['jitter', '2 months', "Write jitter: '7d'."],
  ['every', '2 years', "Write every: '730d'."],
  ['every', 'day', "Write every: '1d'."],
  ['every', 'hourly', "Write cron: '0 * * * *'."],
  ['every', 'day at 3am', "Write cron: '0 3 * * *'."],
  ['every', 'monday', "Write cron: '0 0 * * 1'."],
  ['at', '2026-12-01', "Write at: '2026-12-01T00:00:00Z'."],
  ['at', '2026-2-30', "Write date, time and zone, such as at: '2027-01-01T00:00:00Z'."],
  ['at', '2026/12/01 8:30', "Write at: '2026-12-01T08:30:00Z'."],
  ['at', '01.12.2026', "Write at: '2026-12-01T00:00:00Z'."],
  ['at', '31/12/2026', "Write at: '2026-12-31T00:00:00Z'."],
  ['at', '12/31/2026', "Write at: '2026-12-31T00:00:00Z'."],
  ['at', '01/12/2026', "Write at: '2026-12-01T00:00:00Z', or '2026-01-12T00:00:00Z' if the month comes first."],
  ['at', 'Tue, 01 Dec 2026 00:00:00 GMT', "Write at: '2026-12-01T00:00:00Z'."],
  ['at', 'Dec 1, 2026', "Write at: '2026-12-01T00:00:00Z'."],
  ['at', '1900000000', 'Write at: 1900000000000.'],
  ['at', '1900000000000', 'Write at: 1900000000000.'],
  ['start', 'tomorrow', "Write date, time and zone, such as start: '2027-01-01T00:00:00Z'."],
  ['start', '2026-12-01', "Write start: '2026-12-01T00:00:00Z'."],
  ['end', '01.12.2026 18:00', "Write end: '2026-12-01T18:00:00Z'."],
  ['end', Number.NaN, "Write date, time and zone, such as end: '2027-01-01T00:00:00Z'."],
  ['cron', 'hourly', "Write cron: '@hourly'."],
  ['cron', 'daily at 3am', "Write cron: '0 3 * * *'."],
  ['cron', 'every day at 3', "Write cron: '0 3 * * *'."],
  ['cron', 'Every day at 3:30 PM', "Write cron: '30 15 * * *'."],
  ['cron', 'at midnight', "Write cron: '0 0 * * *'."],
  ['cron', '12am', "Write cron: '0 0 * * *'."],
  ['cron', 'weekdays at noon', "Write cron: '0 12 * * 1-5'."],
  ['cron', 'every Monday and Friday at 09:05', "Write cron: '5 9 * * 1,5'."],
  ['cron', 'first of the month at 4', "Write cron: '0 4 1 * *'."],
  ['cron', 'every hour', "Write cron: '0 * * * *'."],
  ['cron', 'every minute', "Write cron: '* * * * *'."],
  ['cron', '@every 5 minutes', "Write { every: '5m' }."],
  ['cron', '@daily at 3am', "Write cron: '0 3 * * *'."],
]

test(`each of ${FORMS.length} values in a form of others gets a hint, which is itself valid`, () => {
  for (const [option, value, hint] of FORMS) {
    const isTrigger = ['cron', 'every', 'at'].includes(option)
    const given = isTrigger ? { [option]: value } : { every: '5m', [option]: value }
    const told = toldAbout({ store: 'memory:' }, (app) => app.job('billing', given, () => {}))
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value)
    assert.equal(told.length, 1, `told once: ${shown}`)
    const [message, fix] = told[0]!.text.split('\n')
    assert.ok(message!.startsWith(`Job "billing": The option ${option} can't be ${shown}: expected `), message)
    assert.equal(fix, hint, shown)
    const code = /(?:Write|such as) \{? ?(\w+: (?:'[^']+'|\d+))/.exec(hint)![1]!
    const fixed = new Function(`return { ${isTrigger ? '' : "every: '5m', "}${code} }`)() as object
    const again = toldAbout({ store: 'memory:' }, (app) => app.job('billing', fixed, () => {}))
    assert.deepEqual(again, [], `${hint} is valid`)
  }
})

test('the message about a duration names the units', () => {
  const [told] = toldAbout({ store: 'memory:' }, (app) =>
    app.job('billing', { every: '5m', timeout: '2 eons' }, () => {}),
  )
  assert.match(told!.text, /a duration from 1ms to 365d, in ms, s, m, h, d or w as in 1h30m, or whole milliseconds\./)
})

test('words that no expression can say get no wrong expression', () => {
  const wrong = [
    'every other day',
    'every 2 days at 3am',
    'daily at 25',
    'daily at 13pm',
    'daily at 3:60',
    'day 3',
    'every',
    'twice a day',
    'sometimes',
  ]
  for (const cron of wrong) {
    const [told] = toldAbout({ store: 'memory:' }, (app) => app.job('billing', { cron }, () => {}))
    assert.doesNotMatch(told!.text, /Write cron: '/, cron)
  }
  // The hint has five fields, which Quartz does not read.
  const [told] = toldAbout({ store: 'memory:' }, (app) =>
    app.job('billing', { cron: 'daily at 3am', dialect: 'quartz' }, () => {}),
  )
  assert.doesNotMatch(told!.text, /Write cron: '/)
})

const PG = 'postgres://u:secret@127.0.0.1/x'
const REDIS = 'redis://u:secret@127.0.0.1'
type Source = (...args: never[]) => unknown

/** Calls of a store, which are refused before anything is opened. */
const STORES: readonly (readonly [store: Source, args: readonly unknown[], value: string, fix: string])[] = [
  [postgres, [PG, { shema: 'x' }], '"shema" is not an option of a PostgreSQL store', 'Did you mean schema?'],
  [postgres, [PG, { max: 5 }], '"max"', 'Did you mean connections?'],
  [postgres, [PG, { colour: 5 }], '"colour"', 'Use schema, migrate, directUrl'],
  [postgres, [PG, null], 'null', 'Use schema, migrate, directUrl'],
  [postgres, [PG, PG], 'a string', 'Use schema, migrate, directUrl'],
  [postgres, [5], '5', 'Pass a URL, a pg Pool'],
  [postgres, [undefined], 'undefined', 'Check the variable that it comes from. Pass a URL'],
  [postgres, [''], 'an empty text', 'Check the variable that it comes from. Pass a URL'],
  [postgres, [new Map()], 'an object of the class Map', 'postgres(URL, { transaction: db })'],
  [migrator, [PG, { shema: 'x' }], '"shema"', 'Did you mean schema?'],
  [migrator, [true], 'true', 'Pass a URL, a pg Pool'],
  [redis, [REDIS, { prefx: 'x' }], '"prefx" is not an option of a Redis store', 'Did you mean prefix?'],
  [redis, [REDIS, { keyPrefix: 'x' }], '"keyPrefix"', 'Did you mean prefix?'],
  [redis, [true], 'true', 'Pass a URL, a Redis or Cluster of ioredis'],
  [redis, [undefined], 'undefined', 'Check the variable that it comes from. Pass a URL'],
  [redis, [{}], 'an object', 'Pass a URL, a Redis or Cluster of ioredis'],
  [redis, ['localhost:secret'], 'not a URL', 'Write redis://user:password@host:6379/0'],
  [sqlite, [{ pth: 'x' }], '"pth" is not an option of a SQLite store', 'Did you mean file?'],
  [sqlite, [{ filename: 'x' }], '"filename"', 'Did you mean file?'],
  [sqlite, [{ file: 'x', efemeral: true }], '"efemeral"', 'Did you mean ephemeral?'],
  [sqlite, [5], '5', "Write sqlite('./cronce.db') or sqlite({ file: './cronce.db' })."],
  [sqlite, [{}], 'undefined', 'Check the variable'],
  [sqliteFromUrl, ['sqlite:x?ephemral'], '"ephemral"', 'Did you mean ephemeral?'],
  [sqliteFromUrl, ['sqlite:x?mode'], '"mode"', 'Use ephemeral, adopt, mode=NNN.'],
  [etcd, [{ endpoint: [] }], '"endpoint" is not an option of an etcd store', 'Did you mean endpoints?'],
  [etcd, ['etcd://u:secret@host', { pasword: 'secret' }], '"pasword"', 'Did you mean password?'],
  [etcd, [{ endpoints: ['http://h:1'] }, { prefx: 'x' }], '"prefx"', 'Did you mean prefix?'],
  [etcd, [5], '5', "etcd({ endpoints: ['http://127.0.0.1:2379'] })"],
  [zookeeper, [{ server: [] }], '"server" is not an option of a ZooKeeper store', 'Did you mean servers?'],
  [zookeeper, ['zookeeper://host', { prefx: 'x' }], '"prefx"', 'Did you mean prefix?'],
  [zookeeper, [undefined], 'undefined', 'Check the variable'],
]

test(`each of ${STORES.length} wrong calls of a store is refused at once, with what it takes and without secrets`, () => {
  for (const [store, args, value, fix] of STORES) {
    const what = `${store.name} ${JSON.stringify(args)}`
    assert.throws(
      () => (store as (...given: readonly unknown[]) => unknown)(...args),
      ({ code, message, hint }: { code: string; message: string; hint: string }) => {
        assert.match(code, /^STORE_(?:OPTIONS_)?INVALID$/, what)
        assert.ok(message.includes(value), `the value: ${what}: ${message}`)
        assert.ok(hint.includes(fix), `the fix: ${what}: ${hint}`)
        assert.doesNotMatch(`${message}${hint}`, /secret/)
        return true
      },
      what,
    )
  }
  assert.equal(sqlite({ file: '/tmp/x' }).name, 'sqlite:/tmp/x')
})

test('options in the second argument of etcd() and zookeeper() count also beside an object', () => {
  assert.throws(() => etcd({ endpoints: ['http://h:1'] }, { timeoutMs: 1 }), /timeoutMs/)
  assert.throws(() => zookeeper({ servers: ['h:1'] }, { timeoutMs: 1 }), /timeoutMs/)
})

test('a schedule without a job is refused with its name and the jobs of this process', async () => {
  await using app = cronce({ store: 'memory:', logger: false })
  const { create, put } = app.schedules as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  const message =
    'Schedule "acme": The option job can\'t be undefined: expected the name of the job that the schedule is for.'
  await assert.rejects(create!('acme', { every: '5m' }), { message, hint: "Add job: 'billing'." })
  app.job('report', {}, () => {})
  app.job('billing', {}, () => {})
  const two = { message, hint: "Add job: 'report'. The jobs of this process: report, billing." }
  await assert.rejects(create!('acme', { every: '5m' }), two)
  await assert.rejects(put!('acme', { every: '5m' }), two)
  await assert.rejects(put!('billing', { every: '5m' }), { hint: /^Add job: 'billing'\. / })
  await assert.rejects(put!('acme', { every: '5m', job: null }), { message: /^Schedule "acme": .* can't be null/ })
  await assert.rejects(create!('acme'), {
    message: 'Schedule "acme": The options can\'t be undefined: expected an object with job.',
    hint: "Write { job: 'report' }. The jobs of this process: report, billing.",
  })
  for (const name of ['a', 'b', 'c', 'd', 'e']) app.job(name, {}, () => {})
  await assert.rejects(create!('acme', {}), { hint: /: report, billing, a, b, c and 2 more\.$/ })
})

/** Options of `cronce(options)`. */
const APPS: readonly (readonly [options: object, code: string, value: string, fix: string])[] = [
  [{ store: undefined }, 'STORE_MISSING', 'no store', "cronce({ store: 'sqlite:./cronce.db' })"],
  [{ store: '' }, 'STORE_MISSING', 'no store', 'check that the variable'],
  [{ store: 5 }, 'STORE_INVALID', 'a number', "'sqlite:./cronce.db'"],
  [{ store: {} }, 'STORE_INVALID', 'an object', 'postgres()'],
  [{ store: 'mysql://u:secret@host/db' }, 'STORE_UNKNOWN', 'mysql:', "'postgres://…'"],
  [{ store: 'postgress://u:secret@host/db' }, 'STORE_UNKNOWN', 'postgress:', "Write 'postgres://…'."],
  [{ store: './cronce.db' }, 'STORE_UNKNOWN', 'this text', "'sqlite:./cronce.db'"],
  [{ store: 'localhost:5432/db' }, 'STORE_UNKNOWN', 'localhost:', "'postgres://…'"],
  [{ store: 'memory' }, 'STORE_UNKNOWN', 'this text', "Write store: 'memory:'."],
  [{ url: 'redis://u:secret@host' }, 'OPTION_UNKNOWN', '"url"', "Write store: 'postgres://…'"],
  [{ store: 'memory:', timezone: 'Europe/Paris' }, 'OPTION_UNKNOWN', '"Europe/Paris"', 'belongs to a job'],
  [{ store: 'memory:', retry: 3 }, 'OPTION_UNKNOWN', '3', 'app.job(name, { retry: 3 }, handler)'],
  [{ store: 'memory:', jobs: [] }, 'OPTION_UNKNOWN', '"jobs"', "app.job('report', '0 3 * * *'"],
  [{ store: 'memory:', prefix: 'x' }, 'OPTION_UNKNOWN', '"x"', "Write namespace: 'x'."],
  [{ store: 'memory:', lease: 15 }, 'OPTION_INVALID', '15', "Numbers are milliseconds. Write lease: '15s'."],
  [{ store: 'memory:', lease: '15' }, 'OPTION_INVALID', '"15"', "Add the unit: lease: '15s'"],
  [{ store: 'memory:', leaseSeconds: 15 }, 'OPTION_UNKNOWN', '15', "Write lease: '15s'."],
  [{ store: 'memory:', drain: 30 }, 'DURATION_SUSPICIOUS', '30', "Write drain: '30s'"],
  [{ store: 'memory:', concurrency: '5' }, 'OPTION_INVALID', '"5"', 'Write concurrency: 5.'],
  [{ store: 'memory:', signals: 'false' }, 'OPTION_INVALID', '"false"', 'Write signals: false.'],
  [{ store: 'memory:', logger: true }, 'OPTION_INVALID', 'true', 'logger: console'],
  [{ store: 'memory:', namespace: '' }, 'NAME_INVALID', '""', '1 to 200 characters'],
]

test(`each of ${APPS.length} mistakes in the app's options is reported with a code, the value and the fix`, () => {
  for (const [options, code, value, fix] of APPS) {
    const told = toldAbout(options, () => {})
    const what = `${JSON.stringify(options)}\n${told.map(({ text }) => text).join('\n')}`
    assert.equal(told.length, 1, `told once: ${what}`)
    assert.equal(told[0]!.code, code, what)
    assert.ok(told[0]!.text.includes(value), `the value: ${what}`)
    assert.ok(told[0]!.text.includes(fix), `the fix: ${what}`)
    assert.doesNotMatch(told[0]!.text, /secret/)
  }
})

type Call = readonly [args: readonly unknown[], code: string, value: string, fix: string]
const CALLS: readonly Call[] = [
  [['billing', '0 3 * * *'], 'HANDLER_MISSING', '"billing"', 'app.job("billing", \'0 3 * * *\', async (run) =>'],
  [['billing', '0 3 * * *', 'handler'], 'HANDLER_MISSING', '"handler"', 'async (run) =>'],
  [['billing', '0 3 * * *', './billing.js'], 'HANDLER_MISSING', '"./billing.js"', 'file: "./billing.js" }'],
  [['billing', '0 3 * * *', Promise.resolve()], 'HANDLER_MISSING', 'a promise', 'without calling it'],
  [['billing', () => {}], 'OPTION_INVALID', '"billing"', 'app.job("billing", \'0 3 * * *\''],
  [['billing', () => {}, '0 3 * * *'], 'OPTION_INVALID', '"billing"', 'app.job("billing", "0 3 * * *"'],
  [['0 3 * * *', () => {}], 'OPTION_INVALID', '"0 3 * * *"', 'app.job(\'report\', "0 3 * * *"'],
  [[{ name: 'billing', cron: '0 3 * * *' }, () => {}], 'NAME_INVALID', 'an object', "app.job('report'"],
  [['', '0 3 * * *', () => {}], 'NAME_INVALID', '""', '1 to 200 characters'],
  [[undefined, '0 3 * * *', () => {}], 'NAME_INVALID', 'undefined', '1 to 200 characters'],
  [['billing', 60_000, () => {}], 'OPTION_INVALID', '60000', "{ cron: '0 3 * * *' }"],
  [['billing', '5m', () => {}], 'OPTION_INVALID', '"5m"', "Write { every: '5m' }."],
  [['known', '0 3 * * *', () => {}], 'JOB_EXISTS', '"known"', 'another name'],
]

test(`each of ${CALLS.length} wrong calls of app.job is reported with a code, the value and the fix`, () => {
  for (const [args, code, value, fix] of CALLS) {
    const told = toldAbout({ store: 'memory:' }, (app) => {
      app.job('known', {}, () => {})
      app.job(...args)
    })
    const what = `${JSON.stringify(args)}\n${told.map(({ text }) => text).join('\n')}`
    assert.equal(told.length, 1, `told once: ${what}`)
    assert.equal(told[0]!.code, code, what)
    assert.ok(told[0]!.text.includes(value), `the value: ${what}`)
    assert.ok(told[0]!.text.includes(fix), `the fix: ${what}`)
  }
})

test('a value with its unit, its zone or its minute is not suspicious', () => {
  const fine: unknown[] = [
    { every: '60ms', timeout: '30ms' },
    { every: 60_000, timeout: 1_500, jitter: 0 },
    { every: '5m', retry: { attempts: 1, backoff: { base: 100 } } },
    { cron: '0-59 3 * * *', tz: 'America/New_York' },
    { cron: '* * * * *', tz: '-05:00' },
    { cron: '0-59 0 3 * * *', tz: 'CET' },
    { cron: '0 3 * * *', tz: 'UTC' },
    { at: Date.UTC(2_099, 0) },
    { cron: '0-59/45 * * * *' },
    { cron: '0 0 12 ? * 2 2099', dialect: 'default' },
    { cron: '0 0 12 ? * MON 2099' },
    { cron: '0 12 ? * 2' },
    { cron: '*/15 */6 * * *' },
  ]
  for (const options of fine) {
    const told = toldAbout({ store: 'memory:', drain: '30ms' }, (app) => app.job('billing', options, () => {}))
    assert.deepEqual(told, [], JSON.stringify(options))
  }
})

test('a schedule made at run time gets the same errors and warnings, with its name', async () => {
  await using app = cronce({ store: 'memory:', logger: false })
  app.job('billing', {}, () => {})
  const options = { job: 'billing', cron: '0 3 * * *', timezone: 'Europe/Paris' }
  await assert.rejects(app.schedules.create('acme', options), {
    code: 'OPTION_UNKNOWN',
    message: 'Schedule "acme": There is no option "timezone" (given "Europe/Paris").',
    hint: "Write tz: 'Europe/Paris'.",
  })
  const { warnings } = await app.schedules.create('acme', { job: 'billing', cron: '0 3 * * *', timeout: 30 })
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /timeout is 30, .*'30s'.* \(DURATION_SUSPICIOUS\)$/)
})

test('an event of another library is emitted as run.ended', async () => {
  await using app = cronce({ store: 'memory:', logger: false })
  for (const type of ['job.failed', 'completed', 'task:success', 'error', 'failed']) {
    const error = { code: 'OPTION_INVALID', hint: 'Did you mean run.ended?' }
    assert.throws(() => app.on(type as '*', () => {}), error, type)
  }
})

test('a lock has no time to live: it is held until its function ends', async () => {
  await using app = cronce({ store: 'memory:', logger: false })
  const lock = app.lock as unknown as (...args: unknown[]) => Promise<unknown>
  const error = { code: 'OPTION_UNKNOWN', message: 'There is no option "ttl".', hint: /held until its function ends/ }
  await assert.rejects(
    lock('x', { ttl: 5 }, () => {}),
    error,
  )
  await assert.rejects(lock('x', { ttl: 5 }), error)
  await assert.rejects(lock('x', { wait: '5s' }), { code: 'HANDLER_MISSING' })
  await assert.rejects(lock('x', 5), { code: 'HANDLER_MISSING' })
})

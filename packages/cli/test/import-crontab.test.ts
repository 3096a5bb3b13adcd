import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CronExpressionParser } from 'cron-parser'
import { cron, every } from 'cronce/cron'
import { Cron } from 'croner'
import { type CrontabOptions, importCrontab } from '../src/import/crontab-jobs.ts'
import { splitPercent } from '../src/import/crontab-lines.ts'
import { type ImportedJob, jobsOf } from '../src/import/imported.ts'
import { slugOfCommand } from '../src/import/job-names.ts'
import { localZone } from '../src/local-zone.ts'

const FIXTURE = fileURLToPath(new URL('./fixtures/crontab.txt', import.meta.url))
const PLAIN: CrontabOptions = { file: 'crontab', isSystem: false, tz: 'UTC', cwd: null, user: 'root', likeCron: false }

function importText(text: string, options: Partial<CrontabOptions> = {}) {
  const imported = importCrontab(text, { ...PLAIN, ...options })
  return { ...imported, jobs: jobsOf(imported) }
}

function onlyJob(text: string, options: Partial<CrontabOptions> = {}): ImportedJob {
  const { jobs } = importText(text, options)
  assert.equal(jobs.length, 1)
  return jobs[0]!
}

/** What becomes of each line that is neither blank nor a comment nor a variable without a note: a job, or why not. */
const OUTCOMES: Readonly<Record<number, string>> = {
  5: 'changed MAILTO=ops@example.com',
  7: 'lost BROKEN="no end" here',
  11: '*/5 * * * *; changed the environment',
  12: '0 3 * * *',
  13: '15 4 1 * *',
  14: '0,30 8-18/2 * * 1-5',
  15: '0 9 * jan-mar MON,wed',
  16: '30 6 * * 7',
  17: '0 0 13 * 5',
  18: '0 0 */2 * 1 vixie',
  19: '@hourly',
  20: '@daily',
  21: '@midnight',
  22: '@weekly',
  23: '@monthly',
  24: '@yearly',
  25: 'every 90m',
  26: 'lost @reboot',
  27: 'lost @fortnightly',
  30: '10 9 * * 1-5 America/New_York',
  31: '20 22 * * * America/New_York',
  33: 'changed TZ=Asia/Tokyo',
  34: '45 5 1 * * Asia/Kolkata',
  37: '5 1 * * *',
  38: '7 1 * * *',
  39: 'H(0-29) 2 * * *; changed random 0~29 2 * * *',
  40: '12 2 * * *; changed a - in front',
  42: '25 2 * * *',
  43: '35 2 * * *; changed flock',
  44: '40 2 * * *; changed > /dev/null',
  46: '50 2 * * *',
  47: '55 2 * * *',
  48: 'lost 0 0 30 2 *',
  49: 'lost 5/15 * * * *',
  50: 'lost 61 * * * *',
  51: 'lost 0 0 * * * *',
  52: 'lost * * * *',
  53: 'lost root',
  54: '59 23 31 12 *; changed no line end',
}

describe('a crontab with lines of every kind', () => {
  const imported = importText(readFileSync(FIXTURE, 'utf8'))

  test('every line becomes a job or is reported', () => {
    const outcomes: Record<number, string[]> = {}
    for (const { place, options } of imported.jobs) {
      const { cron: expression, every: interval, tz, dialect } = options
      const parts = [expression ?? `every ${interval}`, dialect, tz].filter((part) => part !== undefined)
      outcomes[place.line] = [parts.join(' ')]
    }
    for (const { place, level, what } of imported.findings) {
      outcomes[place.line] = [...(outcomes[place.line] ?? []), `${level} ${what}`]
    }
    const told = Object.fromEntries(Object.entries(outcomes).map(([line, parts]) => [line, parts.join('; ')]))
    assert.deepEqual(told, Object.fromEntries(Object.entries(OUTCOMES)))
  })

  test('what does not translate stays as a comment, word for word', () => {
    const lines = readFileSync(FIXTURE, 'utf8').split('\n')
    const kept = imported.items.flatMap((item) => (item.kind === 'comment' ? item.lines : []))
    for (const [line, outcome] of Object.entries(OUTCOMES)) {
      if (!outcome.startsWith('lost')) continue
      assert.ok(kept.includes(`not translated (line ${line}): ${lines[Number(line) - 1]}`), outcome)
    }
    assert.equal(kept[0], 'Crontab of the shop. Ask ops before you change it.')
  })

  test('each job is due when two other parsers agree that the line is', () => {
    const from = new Date('2027-01-04T00:00:30Z')
    let compared = 0
    for (const { name, options } of imported.jobs) {
      const { cron: expression, tz = 'UTC', dialect } = options
      if (expression === undefined) continue
      const ours = cron(expression, { tz, seed: name, ...(dialect === 'vixie' ? { dialect } : {}) })
      assert.equal(ours.kind, 'cron')
      const instants = ours.nextN(from, 10)
      // They know neither H, which has been drawn in the plain form, nor that two restricted days with a star must both hold.
      const theirs = expression.startsWith('H') && ours.kind === 'cron' ? ours.normalized : expression
      const both = dialect === 'vixie'
      const croner = new Cron(theirs, { timezone: tz, domAndDow: both }).nextRuns(10, from)
      assert.deepEqual(instants, croner.map(Number), `croner, ${expression}`)
      if (!both) {
        const parsed = CronExpressionParser.parse(theirs.replace('@midnight', '@daily'), { tz, currentDate: from })
        assert.deepEqual(
          instants,
          Array.from({ length: 10 }, () => parsed.next().getTime()),
          `cron-parser, ${expression}`,
        )
      }
      compared++
    }
    assert.equal(compared, imported.jobs.length - 1)
    const { options } = imported.jobs.find(({ place }) => place.line === 25)!
    assert.ok(typeof options.every === 'string')
    assert.equal(every(options.every).everyMs, 90 * 60_000)
  })

  test('comments stay with the job below them', () => {
    assert.deepEqual(imported.jobs[0]!.comments, ['Every five minutes,', 'around the clock.'])
  })

  test('variables hold for the lines below them, and not for those above', () => {
    const at = (line: number) => imported.jobs.find(({ place }) => place.line === line)!.options
    const early = { PATH: '/usr/local/bin:/usr/bin:/bin', GREETING: 'good morning' }
    assert.deepEqual(at(11).env, early)
    assert.deepEqual(at(34).env, { ...early, TZ: 'Asia/Tokyo' })
    assert.equal(at(40).cwd, undefined)
    assert.equal(at(42).cwd, '/tmp')
    assert.equal(at(44).shell, '/bin/sh')
    assert.equal(at(46).shell, '/bin/bash')
  })
})

describe('lines of a crontab', () => {
  test('a % is the end of the command, and further ones are line ends of its input', () => {
    assert.deepEqual(splitPercent('mail bob%Hi%there'), { command: 'mail bob', stdin: 'Hi\nthere\n' })
    assert.deepEqual(splitPercent('date +\\%F'), { command: 'date +%F', stdin: null })
    assert.deepEqual(splitPercent('cat%50\\% off%'), { command: 'cat', stdin: '50% off\n' })
    assert.deepEqual(splitPercent("echo 'a\\nb'"), { command: "echo 'a\\nb'", stdin: null })
    assert.deepEqual(splitPercent('echo \\\\%x'), { command: 'echo \\\\', stdin: 'x\n' })
    assert.deepEqual(splitPercent('cat%'), { command: 'cat', stdin: '' })
    assert.deepEqual(splitPercent('echo \\'), { command: 'echo \\', stdin: null })
  })

  test('an assignment before a command is part of it', () => {
    assert.equal(onlyJob('* * * * * A=b c=d run\n').options.command, 'A=b c=d run')
  })

  test('line ends of Windows are removed, and reported', () => {
    const { jobs, findings } = importText('A=b\r\n0 3 * * * run\r\n')
    assert.equal(jobs[0]!.options.command, 'run')
    assert.deepEqual(jobs[0]!.options.env, { A: 'b' })
    assert.deepEqual(
      findings.map(({ what }) => what),
      ['line ends of Windows', 'the environment'],
    )
  })

  test('lines are in the zone of the machine that they come from', () => {
    assert.equal(onlyJob('0 3 * * * run\n', { tz: 'Europe/London' }).options.tz, 'Europe/London')
    for (const zone of [':Europe/Berlin', '/usr/share/zoneinfo/Europe/Berlin', ':/usr/share/zoneinfo/Europe/Berlin'])
      assert.equal(onlyJob(`CRON_TZ=${zone}\n0 3 * * * run\n`).options.tz, 'Europe/Berlin', zone)
    const local = onlyJob('CRON_TZ=:/etc/localtime\n0 3 * * * run\n', { tz: 'Europe/London' })
    assert.equal(local.options.tz, 'Europe/London')
    for (const zone of ['Europe/Berlin', ':Europe/Berlin', ':/usr/share/zoneinfo/Europe/Berlin'])
      assert.equal(localZone({ TZ: zone }), 'Europe/Berlin', zone)
    // Any zone that this machine is set to is a valid zone.
    assert.equal(
      new Intl.DateTimeFormat('en', { timeZone: localZone({ TZ: ':/etc/localtime' }) }).format(0).length > 0,
      true,
    )
    assert.equal(onlyJob('CRON_TZ=Etc/UTC\n0 3 * * * run\n', { tz: 'Europe/London' }).options.tz, undefined)
  })

  test('an invalid zone drops the lines below it', () => {
    const { jobs, findings } = importText('CRON_TZ=Mars/Olympus\n0 3 * * * run\n')
    assert.equal(jobs.length, 0)
    assert.match(findings[0]!.why, /Mars\/Olympus/)
  })

  test('RANDOM_DELAY of cronie is a jitter, and 0 removes it; an empty MAILTO sends no mail and is not reported', () => {
    const { jobs, findings } = importText(
      'MAILTO=""\nRANDOM_DELAY=45\n0 3 * * * a\nRANDOM_DELAY=0\n0 4 * * * b\nRANDOM_DELAY=soon\n',
    )
    assert.deepEqual(
      jobs.map(({ options }) => options.jitter),
      [{ within: '45m', kind: 'random' }, undefined],
    )
    assert.deepEqual(
      findings.map(({ place, what }) => [place.line, what]),
      [
        [3, 'the environment'],
        [6, 'RANDOM_DELAY=soon'],
      ],
    )
  })

  test('a variable with a $ is passed on unchanged, and reported', () => {
    const { jobs, findings } = importText('PATH=$HOME/bin:/bin\n0 3 * * * a\n')
    assert.deepEqual(jobs[0]!.options.env, { PATH: '$HOME/bin:/bin' })
    assert.equal(findings[0]!.what, 'PATH=$HOME/bin:/bin')
  })

  test('what depends on the home directory is reported, unless it is known', () => {
    const told = (command: string, options = {}) =>
      importText(`0 3 * * * ${command}\n`, options).findings.some(({ what }) => what === 'a relative path')
    for (const command of ['./run', 'bin/run', 'make >> log.txt', 'sh ../x', 'echo > out'])
      assert.ok(told(command), command)
    for (const command of [
      '/bin/run',
      'run 2>&1',
      'cd /srv && ./run',
      'curl https://a.b/c',
      'a > /dev/null',
      'a > "$X"',
      '~/bin/run',
      '$HOME/run',
      'pg_dump app | gzip',
    ]) {
      assert.ok(!told(command), command)
    }
    assert.ok(!told('./run', { cwd: '/srv' }))
    assert.equal(onlyJob('0 3 * * * ./run\n', { cwd: '/srv' }).options.cwd, '/srv')
  })

  test('a system crontab has users, and commands of others go through su', () => {
    const { jobs, findings } = importText('17 * * * *\troot\tcd / && run\n5 3 * * * www-data php x%in\n@daily bob\n', {
      isSystem: true,
    })
    assert.deepEqual(
      jobs.map(({ options: { command, shell, stdin } }) => ({ command, shell, stdin })),
      [
        { command: 'cd / && run', shell: '/bin/sh', stdin: undefined },
        { command: ['su', '-s', '/bin/sh', '-c', 'php x', 'www-data'], shell: undefined, stdin: { text: 'in\n' } },
      ],
    )
    assert.deepEqual(
      findings.map(({ place, level, what }) => [place.line, level, what]),
      [
        [1, 'changed', 'the environment'],
        [2, 'changed', 'user www-data'],
        [3, 'lost', '@daily bob'],
      ],
    )
    const ours = onlyJob('5 3 * * * www-data php x\n', { isSystem: true, user: 'www-data' })
    assert.equal(ours.options.command, 'php x')
  })

  test('overlap and catch-up are as jobs have them, or as cron has them if that is wanted', () => {
    assert.equal(onlyJob('0 3 * * * a\n').options.overlap, undefined)
    const { overlap, misfire } = onlyJob('0 3 * * * a\n', { likeCron: true }).options
    assert.deepEqual({ overlap, misfire }, { overlap: 'allow', misfire: 'skip' })
  })

  test('a lock becomes the overlap that it means, and the report about it is true', () => {
    const told = (command: string, likeCron = false): unknown[] => {
      const { jobs, findings } = importText(`0 3 * * * ${command}\n`, { likeCron })
      const why = findings.find(({ what }) => what === 'flock')?.why ?? ''
      return [jobs[0]!.options.overlap, /^overlap: '([\w-]+)'|one machine only/.exec(why)?.slice(0, 1)[0]]
    }
    const skip = ['skip', "overlap: 'skip'"]
    const queue = ['queue', "overlap: 'queue'"]
    for (const command of [
      'flock -n /x a',
      '/usr/bin/flock -xn /x -c a',
      'flock -E 0 --nonblock /x a',
      '(flock -n 9; a)',
    ])
      assert.deepEqual([told(command), told(command, true)], [skip, skip], command)
    for (const command of ['flock /x a', 'flock -w 10 /x a -n', 'flock -E 5 -x /x -c "a -n"', '(flock 9; a -n)'])
      assert.deepEqual([told(command), told(command, true)], [queue, ['allow', 'one machine only']], command)
    assert.deepEqual(told('flock -s /x a'), [undefined, 'one machine only'])
    for (const command of ['a --flocks', '/opt/flock/run', 'a flock'])
      assert.deepEqual(told(command), [undefined, undefined], command)
  })

  test('FreeBSD has macros of its own', () => {
    assert.equal(onlyJob('@every_minute a\n').options.cron, '* * * * *')
    assert.equal(onlyJob('@every_second a\n').options.every, '1s')
    assert.match(importText('@600 a\n').findings[0]!.todo, /every: '600s'/)
  })

  test('an empty crontab has no jobs and no report', () => {
    assert.deepEqual(importText(''), { items: [], findings: [], jobs: [] })
  })
})

describe('names of jobs', () => {
  test('describe what the command does, without its wrapper', () => {
    for (const [command, name] of [
      ['/usr/bin/php /srv/artisan schedule:run >/dev/null 2>&1', 'artisan-schedule-run'],
      ['flock -n /tmp/l -c "/opt/report.sh --full weekly"', 'report-weekly'],
      ['nice -n 10 /usr/local/bin/backup.sh full > /var/log/x', 'backup-full'],
      ['test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )', 'run-parts'],
      ['A=1 B=2 node /app/tasks/report.mjs weekly', 'report-weekly'],
      ['timeout -k 5 60 curl -fsS https://example.com', 'curl'],
      ['python3 -m app.sync users', 'app-sync-users'],
      ['*', 'job'],
      ['', 'job'],
    ] as const) {
      assert.equal(slugOfCommand(command), name, command)
    }
  })

  test('are unique, and those of other lines do not change when one is added', () => {
    const names = (text: string) => importText(text).jobs.map(({ name }) => name)
    assert.deepEqual(names('0 1 * * * run\n0 2 * * * run\n0 3 * * * stop\n'), ['run', 'run-2', 'stop'])
    assert.deepEqual(names('5 5 * * * first\n0 1 * * * run\n0 2 * * * run\n0 3 * * * stop\n').slice(1), [
      'run',
      'run-2',
      'stop',
    ])
  })
})

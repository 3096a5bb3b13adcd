import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { jobsOf } from '../src/import/imported.ts'
import { importK8s } from '../src/import/k8s-jobs.ts'
import { anyText } from './any-text.ts'
import { ask } from './cronce.ts'

interface Parts {
  readonly spec?: string
  readonly job?: string
  readonly pod?: string
  readonly container?: string
}

/** A CronJob with more of this and that; every text is a line, indented here. */
function cronJob({ spec = '', job = '', pod = '', container = '' }: Parts, name = 'nightly'): string {
  const lines = (text: string, indent: number): string[] =>
    text === '' ? [] : text.split('\n').map((line) => ' '.repeat(indent) + line)
  return [
    'apiVersion: batch/v1',
    'kind: CronJob',
    `metadata: { name: ${name} }`,
    'spec:',
    ...lines(/^schedule:/m.test(spec) ? spec : `schedule: "0 3 * * *"\n${spec}`.trimEnd(), 2),
    '  jobTemplate:',
    '    spec:',
    ...lines(job, 6),
    '      template:',
    '        spec:',
    ...lines(pod, 10),
    '          restartPolicy: Never',
    '          containers:',
    '            - name: main',
    ...lines(/^command:/m.test(container) ? container : `command: [backup]\n${container}`.trimEnd(), 14),
    '',
  ].join('\n')
}

function read(...texts: string[]) {
  const files = texts.map((text, index) => ({ file: `${index + 1}.yaml`, text }))
  const imported = importK8s(files, Date.parse('2027-01-01T00:00:00Z'))
  return { ...imported, jobs: jobsOf(imported) }
}

function optionsOf(parts: Parts) {
  const { jobs, findings } = read(cronJob(parts))
  assert.equal(jobs.length, 1, JSON.stringify(findings))
  return jobs[0]!.options
}

const DEFAULT_RETRY = { attempts: 6, backoff: { base: '10s', cap: '6m' } }

/** Findings about one subject, as `level: what: why`. */
function told(parts: Parts, about: RegExp): string[] {
  return read(cronJob(parts))
    .findings.filter(({ what }) => about.test(what))
    .map(({ level, what, why }) => `${level}: ${what}: ${why}`)
}

describe('a CronJob becomes a job', () => {
  test('that does what Kubernetes does by default', () => {
    assert.deepEqual(optionsOf({}), {
      cron: '0 3 * * *',
      command: ['backup'],
      overlap: 'allow',
      retry: DEFAULT_RETRY,
    })
  })

  test('with its schedule and zone', () => {
    const when = (spec: string) => {
      const { cron, every, tz, dialect } = optionsOf({ spec })
      return { cron, every, tz, dialect }
    }
    const none = { every: undefined, tz: undefined, dialect: undefined }
    assert.deepEqual(when('schedule: "*/5 1-3 * * MON-FRI"'), { ...none, cron: '*/5 1-3 * * MON-FRI' })
    assert.deepEqual(when('schedule: "@hourly"\ntimeZone: Etc/UTC'), { ...none, cron: '@hourly' })
    assert.deepEqual(when('schedule: 0 3 * * *\ntimeZone: Europe/London'), {
      ...none,
      cron: '0 3 * * *',
      tz: 'Europe/London',
    })
    assert.deepEqual(when('schedule: CRON_TZ=Asia/Tokyo 0 3 * * *'), { ...none, cron: '0 3 * * *', tz: 'Asia/Tokyo' })
    assert.deepEqual(when('schedule: "@every 5m"'), { ...none, cron: undefined, every: '5m' })
  })

  test('with its policies', () => {
    assert.equal(optionsOf({ spec: 'concurrencyPolicy: Replace' }).overlap, 'replace')
    assert.equal(optionsOf({ job: 'backoffLimit: 0' }).retry, undefined)
    assert.deepEqual(optionsOf({ job: 'backoffLimit: 2\nactiveDeadlineSeconds: 90' }).retry, {
      attempts: 2,
      backoff: { base: '10s', cap: '6m' },
      deadline: '90s',
    })
    assert.equal(optionsOf({ job: 'activeDeadlineSeconds: 7200', pod: 'activeDeadlineSeconds: 3600' }).timeout, '1h')
    assert.deepEqual(optionsOf({ spec: 'successfulJobsHistoryLimit: 10\nfailedJobsHistoryLimit: 5' }).retention, {
      count: 15,
    })
    assert.equal(optionsOf({ spec: 'successfulJobsHistoryLimit: 3' }).retention, undefined)
  })

  test('with startingDeadlineSeconds as the misfire window: how late the latest missed time may still start', () => {
    const misfire = (seconds: number) => optionsOf({ spec: `startingDeadlineSeconds: ${seconds}` }).misfire
    assert.deepEqual(misfire(300), { late: 'latest', window: '5m' })
    assert.equal(misfire(86_400), undefined)
    assert.deepEqual(misfire(604_800), { late: 'latest', window: '7d' })
    // The window is at least the grace: a shorter deadline has nothing to choose from.
    assert.equal(misfire(10), 'skip')
    assert.deepEqual(misfire(3), { late: 'skip', grace: '3s' })
    assert.deepEqual(misfire(99_999_999), { late: 'latest', window: '365d' })
    assert.match(
      told({ spec: 'startingDeadlineSeconds: 99999999' }, /Deadline/)[0]!,
      /^changed: .*longest misfire window/,
    )
    assert.deepEqual(told({ spec: 'startingDeadlineSeconds: 300' }, /Deadline/), [])
  })

  test('without a deadline with a window that always holds the latest missed time, which is reported', () => {
    for (const [spec, window] of [
      ['schedule: "*/5 * * * *"', undefined],
      ['schedule: "0 3 * * *"', undefined],
      ['schedule: "0 3 * * *"\ntimeZone: Europe/London', '2d'],
      ['schedule: "0 3 * * 1-5"', '3d'],
      ['schedule: "*/5 * * * 1"', '7d'],
      ['schedule: "0 0 31 * *"', '61d'],
      ['schedule: "0 0 1 1 *"', '365d'],
      ['schedule: "@every 36h"', '2d'],
    ] as const) {
      assert.deepEqual(optionsOf({ spec }).misfire, window === undefined ? undefined : { late: 'latest', window }, spec)
      const [finding, ...more] = told({ spec }, /startingDeadlineSeconds/)
      assert.match(finding!, new RegExp(`^changed: no startingDeadlineSeconds: .* misfire.window of ${window ?? '1d'}`))
      assert.deepEqual(more, [])
    }
  })

  test('without a deadline, and with times further apart than the longest window, reports that the window is too short', () => {
    for (const [schedule, days] of [
      ['0 3 29 2 *', '1461'],
      ['0 0 1 1 *', '366'],
      ['@every 9600h', '400'],
    ] as const) {
      const spec = `schedule: "${schedule}"`
      assert.deepEqual(optionsOf({ spec }).misfire, { late: 'latest', window: '365d' })
      const [finding] = told({ spec }, /startingDeadlineSeconds/)
      assert.match(finding!, new RegExp(`window of 365d is the longest, and two times are up to ${days} days apart$`))
    }
    const [yearly] = told({ spec: 'schedule: "0 0 1 * *"' }, /startingDeadlineSeconds/)
    assert.match(yearly!, /no two times are further apart$/)
  })

  test('with Forbid as queue, since Kubernetes starts what came due meanwhile when the earlier Job ends', () => {
    const overlap = (spec: string) => optionsOf({ spec: `concurrencyPolicy: Forbid\n${spec}`.trimEnd() }).overlap
    assert.equal(overlap(''), 'queue')
    assert.equal(overlap('startingDeadlineSeconds: 86400'), 'queue')
    // By the end of the earlier Job the time may be past its deadline: skip is the closest policy, and is reported.
    assert.equal(overlap('startingDeadlineSeconds: 300'), undefined)
    const { findings } = read(cronJob({ spec: 'concurrencyPolicy: Forbid\nstartingDeadlineSeconds: 300' }))
    assert.deepEqual(
      findings.filter(({ what }) => /Forbid/.test(what)).map(({ todo }) => todo),
      ["write overlap: 'queue' to start it when the earlier run ends, however late"],
    )
    assert.deepEqual(told({ spec: 'concurrencyPolicy: Forbid' }, /Forbid/), [])
  })

  test('with retries that a late start does not use up', () => {
    const deadline = (spec: string) => {
      const { retry } = optionsOf({ spec })
      return typeof retry === 'object' ? retry.deadline : null
    }
    assert.equal(deadline('schedule: "0 0 1 * *"'), undefined)
    assert.equal(deadline('startingDeadlineSeconds: 300'), '1d')
    assert.match(
      told({ spec: 'startingDeadlineSeconds: 300' }, /retry\.deadline/)[0]!,
      /^changed: retry\.deadline: 1d: .*without retry\.deadline, retries would also end 5m after the due time/,
    )
    assert.deepEqual(told({ spec: 'schedule: "0 0 1 * *"' }, /retry\.deadline/), [])
  })

  test('and reports what a clock change does differently', () => {
    const changes = (spec: string) => told({ spec }, /clock/)
    assert.match(
      changes('schedule: "30 1 * * *"\ntimeZone: Europe/London')[0]!,
      /^changed: a clock change: .* 2027-03-28 in Europe\/London/,
    )
    // In New York 01:30 exists every day, and twice in November.
    assert.match(changes('schedule: "30 1 * * *"\ntimeZone: America/New_York')[0]!, /2027-11-07 in America\/New_York/)
    for (const same of [
      'schedule: "30 1 * * *"',
      'schedule: "30 12 * * *"\ntimeZone: Europe/London',
      'schedule: "*/30 * * * *"\ntimeZone: Europe/London',
    ])
      assert.deepEqual(changes(same), [], same)
  })

  test('with @every counted from the time that Kubernetes counts from, if the manifest has it', () => {
    const every = (metadata: string, status: string) =>
      read(cronJob({ spec: 'schedule: "@every 90m"' }).replace('name: nightly', `name: nightly${metadata}`) + status)
    const created = ', creationTimestamp: "2026-12-01T10:00:00Z"'
    const ran = 'status: { lastScheduleTime: "2026-12-31T11:30:00Z" }\n'
    const options = ({ jobs }: ReturnType<typeof every>) => jobs[0]!.options.every
    assert.deepEqual(options(every(created, ran)), { interval: '90m', anchor: '2026-12-31T11:30:00Z' })
    assert.deepEqual(options(every(created, '')), { interval: '90m', anchor: '2026-12-01T10:00:00Z' })
    const bare = every('', '')
    assert.equal(options(bare), '90m')
    assert.ok(
      bare.findings.some(({ what, why }) => what === '@every 90m' && /from when the CronJob was made/.test(why)),
    )
  })

  test('with its command, and with variables put in as Kubernetes does', () => {
    const { command, env, cwd } = optionsOf({
      container: [
        'command: [run, "$(A)", "$$(A)", "$(B)"]',
        'args: ["x y", "a$$b"]',
        'workingDir: /srv',
        'env: [{ name: A, value: one }, { name: C, value: "$(A) two" }]',
      ].join('\n'),
    })
    assert.deepEqual(command, ['run', 'one', '$(A)', '$(B)', 'x y', 'a$b'])
    assert.deepEqual(env, { A: 'one', C: 'one two' })
    assert.equal(cwd, '/srv')
  })

  test('with the text for a shell as a text', () => {
    const { command, shell } = optionsOf({ container: 'command: ["/bin/bash", "-c"]\nargs: ["a | b"]' })
    assert.deepEqual({ command, shell }, { command: 'a | b', shell: '/bin/bash' })
  })

  test('a suspended CronJob gets no schedule, which is reported and kept as a comment', () => {
    const { jobs, findings } = read(cronJob({ spec: 'suspend: true' }))
    assert.equal(jobs[0]!.options.cron, undefined)
    assert.deepEqual(jobs[0]!.comments, ['suspended: {"cron":"0 3 * * *"}'])
    assert.deepEqual(
      findings.map(({ level, what }) => [level, what]),
      [
        ['changed', 'no startingDeadlineSeconds'],
        ['changed', 'suspend: true'],
      ],
    )
  })

  test('of several documents, lists and files, each under a name of its own, with the comments above it', () => {
    const list = `kind: List\nitems:\n  # in a list\n  - ${cronJob({}, 'two').trimEnd().replaceAll('\n', '\n    ')}\n`
    const { jobs, findings } = read(
      `# first\n# of all\n${cronJob({}, 'one')}---\n# nothing else\n---\n${list}`,
      `${cronJob({}, 'one').replace('batch/v1', 'batch/v1beta1')}---\nkind: Service\nmetadata: { name: web }\n`,
    )
    assert.deepEqual(
      jobs.map(({ name, place, comments }) => [name, place.file, place.line, comments]),
      [
        ['one', '1.yaml', 3, ['first', 'of all']],
        ['two', '1.yaml', 22, ['in a list']],
        ['one-2', '2.yaml', 1, []],
      ],
    )
    assert.deepEqual(
      findings
        .filter(({ what }) => what !== 'no startingDeadlineSeconds')
        .map(({ place, level, what }) => [place.file, level, what]),
      [['2.yaml', 'changed', 'Service web']],
    )
  })

  test('with anchors and merges of YAML', () => {
    const text = cronJob({ container: 'command: *words\nargs: [*word, c]\nenv: *env' }).replace(
      'kind: CronJob',
      'kind: CronJob\nx-words: &words [a, &word b]\nx-env: &env [{ name: A, value: b }]\nx-base: &base { concurrencyPolicy: Replace }',
    )
    const merged = text.replace('spec:\n  schedule', 'spec:\n  <<: *base\n  schedule')
    const { command, overlap, env } = read(merged).jobs[0]!.options
    assert.deepEqual({ command, overlap, env }, { command: ['a', 'b', 'b', 'c'], overlap: 'replace', env: { A: 'b' } })
  })
})

describe('what has no counterpart is reported, with its line and column', () => {
  test('and the job is there', () => {
    const { jobs, findings } = read(
      cronJob({
        spec: 'startingDeadlineSeconds: 86400',
        job: 'completions: 3\nparallelism: 1',
        pod: 'serviceAccountName: robot\nvolumes: [{ name: a, emptyDir: {} }]\ninitContainers: [{ name: i }]',
        container: [
          'image: shop/backup:1',
          'resources: { limits: { cpu: 1 } }',
          'env: [{ name: P, valueFrom: { secretKeyRef: { name: s, key: p } } }]',
          'envFrom: [{ secretRef: { name: s } }]',
        ].join('\n'),
      }),
    )
    assert.equal(jobs.length, 1)
    assert.deepEqual(
      findings.map(({ place: { line, column }, level, what }) => [line, column, level, what]),
      [
        [9, 20, 'changed', 'completions: 3'],
        [13, 31, 'changed', 'serviceAccountName'],
        [14, 20, 'changed', 'volumes'],
        [15, 27, 'changed', 'initContainers'],
        [20, 22, 'changed', 'image shop/backup:1'],
        [21, 26, 'changed', 'resources'],
        [22, 21, 'changed', 'env P from secretKeyRef'],
        [23, 25, 'changed', 'envFrom secretRef'],
      ],
    )
  })

  test('or it is not, and stays as a comment', () => {
    for (const [text, line, what] of [
      [cronJob({ spec: 'schedule: 61 * * * *' }), 5, '61 * * * *'],
      [cronJob({ spec: 'schedule: 0 0 L * *' }), 5, '0 0 L * *'],
      [cronJob({ spec: 'schedule: 0 0 30 2 *' }), 5, '0 0 30 2 *'],
      [cronJob({ spec: 'schedule: 5' }), 5, 'no schedule'],
      [cronJob({ spec: 'timeZone: Mars/Olympus' }), 5, '0 3 * * *'],
      [
        cronJob({ spec: 'schedule: TZ=Asia/Tokyo 0 3 * * *\ntimeZone: Europe/London' }),
        5,
        'TZ=Asia/Tokyo and timeZone',
      ],
      [cronJob({ spec: 'schedule: CRON_TZ=UTC 0 3 * * *\ntimeZone: UTC' }), 5, 'CRON_TZ=UTC and timeZone'],
      [cronJob({ container: 'command: []\nimage: x' }), 12, 'no command'],
      [cronJob({ container: 'command: [1]' }), 13, 'command or args'],
      [`${cronJob({})}            - name: second\n`, 14, '2 containers'],
      [cronJob({}).replace('batch/v1', 'batch/v9'), 1, 'apiVersion batch/v9'],
      [cronJob({}).replace('name: nightly', 'x: y'), 1, 'a CronJob without a name'],
      ['kind: CronJob\n', 1, 'apiVersion is missing'],
      ['a: b\nc: [\n', 3, 'no YAML'],
    ] as const) {
      const { jobs, findings, items } = read(text)
      assert.equal(jobs.length, 0, what)
      const lost = findings.filter(({ level }) => level === 'lost')
      assert.deepEqual([lost[0]?.place.line, lost[0]?.what], [line, what])
      assert.match(
        items.flatMap((item) => (item.kind === 'comment' ? item.lines : [])).join(),
        /^not translated \(1.yaml:\d+\): /,
      )
    }
  })

  test('on stderr, with the file where there are several; exit code 1 if something is lost', async () => {
    const input = cronJob({ spec: 'schedule: 61 * * * *' })
    const { status, stdout, stderr } = await ask(['import', 'k8s', '-'], {}, { input })
    assert.equal(status, 1)
    assert.match(stdout, /\/\/ not translated \(-:1\): CronJob nightly/)
    assert.match(stderr, /^5:13 +61 \* \* \* \* +Minute 61 is out of range/m)
  })

  test('and no text makes it throw', () => {
    const word = fc.constantFrom(
      'kind: CronJob',
      'apiVersion: batch/v1',
      'spec:',
      '  schedule: 1',
      'items: [',
      ']',
      '---',
      '- a',
      '&a',
      '*a',
      '<<: *a',
      '{',
      '}',
      ': ',
      '"',
      '# x',
      'metadata: {name: x}',
      '\t',
      '  jobTemplate: 5',
    )
    const text = fc.oneof(
      anyText(),
      fc.array(word, { maxLength: 12 }).map((words) => words.join('\n')),
    )
    fc.assert(
      fc.property(text, (yaml) => {
        assert.equal(read(yaml).jobs.length, 0)
      }),
      { numRuns: 200 },
    )
  })
})

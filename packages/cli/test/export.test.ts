import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { connect } from 'cronce'
import { parseAllDocuments } from 'yaml'
import { k8sNames } from '../src/export/k8s-names.ts'
import { programPath } from '../src/export/program-path.ts'
import { importK8s } from '../src/import/k8s-jobs.ts'
import { ask, MAIN, start } from './cronce.ts'
import { exported, folder } from './export-jobs.ts'

/** A manifest as people reach into it. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about.
type Manifest = any

function manifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, [])
    return document.toJS() ?? []
  })
}

const K8S = ['--image', 'shop/jobs:1']

describe('cronce export k8s', () => {
  test('writes a CronJob that claims its fire by cronce exec', async (context) => {
    const { status, text, told } = await exported(
      context,
      'k8s',
      {
        nightly: {
          cron: '0 3 * * MON-FRI',
          tz: 'Asia/Tokyo',
          command: ['pg_dump', '-f', 'a b'],
          cwd: '/srv',
          env: { PGDATABASE: 'app' },
          timeout: { run: '10m', grace: '30s' },
          retry: 2,
          misfire: { window: '1h' },
          retention: { count: 5 },
        },
      },
      ...K8S,
      '--namespace',
      'shop',
    )
    assert.equal(status, 0)
    assert.deepEqual(told, [])
    assert.ok(!/[&*]a\d/.test(text), 'no anchors')
    const [job, ...others] = manifests(text)
    assert.deepEqual(others, [])
    const labels = { 'app.kubernetes.io/name': 'nightly', 'app.kubernetes.io/managed-by': 'cronce' }
    const { jobTemplate, ...spec } = job.spec
    assert.deepEqual(
      { ...job, spec },
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'nightly', labels },
        spec: {
          schedule: '0 3 * * MON-FRI',
          timeZone: 'Asia/Tokyo',
          concurrencyPolicy: 'Allow',
          startingDeadlineSeconds: 3600,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 2,
        },
      },
    )
    const { template, ...frame } = jobTemplate.spec
    assert.equal(frame.backoffLimit, 2)
    // Three runs of 630 s, two delays, and time to start.
    assert.equal(frame.activeDeadlineSeconds, 3 * 630 + 1 + 2 + 300)
    assert.deepEqual(
      frame.podFailurePolicy.rules.map(({ action }: { action: string }) => action),
      ['Ignore', 'FailJob'],
    )
    assert.deepEqual(template, {
      metadata: { labels },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 45,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'job',
            image: 'shop/jobs:1',
            command: [
              ...['cronce', 'exec', '--name', 'nightly', '--due', 'auto'],
              ...['--cron', '0 3 * * MON-FRI', '--tz', 'Asia/Tokyo'],
              ...['--timeout', '10m', '--grace', '30s', '--retry', '2'],
              ...['--', 'pg_dump', '-f', 'a b'],
            ],
            workingDir: '/srv',
            env: [
              { name: 'CRONCE_STORE', valueFrom: { secretKeyRef: { name: 'cronce-store', key: 'url' } } },
              { name: 'CRONCE_NAMESPACE', value: 'shop' },
              {
                name: 'CRONCE_K8S_JOB',
                valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-name']" } },
              },
              { name: 'CRONCE_ENV_PGDATABASE', value: 'app' },
            ],
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      },
    })
  })

  test('prints in five fields what fits in five fields, and reports the rest', async (context) => {
    const command = ['a']
    const { status, text, told } = await exported(
      context,
      'k8s',
      {
        plain: { cron: '*/5 * * * *', command },
        sunday: { cron: '0 0 * * 7', command },
        spread: { cron: 'H H(1-3) * * *', command },
        six: { cron: '0 30 4 * * *', command },
        zoned: { cron: 'CRON_TZ=Europe/London 0 12 * * *', command },
        offset: { cron: '0 3 * * *', tz: '+05:00', command },
        half: { cron: '0 3 * * *', tz: '+05:30', command },
        seconds: { cron: '*/10 * * * * *', command },
        last: { cron: '0 0 L * *', command },
        weekday: { cron: '0 0 15W * *', command },
        second: { cron: '0 0 * * 5#2', command },
        friday: { cron: '0 0 13 * +FRI', command },
        often: { every: '15m', command },
        once: { at: '2030-01-01T00:00Z', command },
        never: { command },
        moved: { cron: '30 1 * * *', tz: 'Europe/London', command },
        repeated: { cron: '30 1 * * *', tz: 'America/New_York', command },
        steady: { cron: '*/30 * * * *', tz: 'Europe/London', command },
        wall: { cron: '30 1 * * *', tz: 'Europe/London', dst: 'wall', command },
      },
      ...K8S,
    )
    assert.equal(status, 1)
    const schedules = manifests(text).map(({ metadata, spec }) => `${metadata.name} ${spec.schedule} ${spec.timeZone}`)
    assert.deepEqual(
      schedules.filter((line) => !line.startsWith('spread')),
      [
        'plain */5 * * * * Etc/UTC',
        'sunday 0 0 * * 0 Etc/UTC',
        'six 30 4 * * * Etc/UTC',
        'zoned 0 12 * * * Europe/London',
        'offset 0 3 * * * Etc/GMT-5',
        'moved 30 1 * * * Europe/London',
        'repeated 30 1 * * * America/New_York',
        'steady */30 * * * * Europe/London',
        'wall 30 1 * * * Europe/London',
      ],
    )
    assert.match(schedules.find((line) => line.startsWith('spread'))!, /^spread \d+ [123] \* \* \* Etc\/UTC$/)
    assert.deepEqual(told, [
      'half: lost tz +05:30',
      ...['seconds', 'last', 'weekday', 'second', 'friday', 'often', 'once', 'never'].map(
        (name) => `${name}: lost its schedule`,
      ),
      'moved: changed a change of the clock',
      'repeated: changed a change of the clock',
    ])
    for (const name of ['half', 'last', 'never']) assert.match(text, new RegExp(`^# not translated: ${name}: `, 'm'))
  })

  test('reports the policies that only cronce start has, and the jobs that are not commands', async (context) => {
    const { told } = await exported(
      context,
      'k8s',
      {
        busy: {
          cron: '0 3 * * *',
          command: ['a'],
          jitter: '5m',
          pauseAfter: 3,
          concurrency: 2,
          group: { name: 'g', limit: 1 },
          misfire: 'all',
          overlap: 'queue-all',
          limit: 5,
          end: '2030-01-01T00:00Z',
        },
        strict: { cron: '0 3 * * *', command: ['a'], misfire: { late: 'skip', grace: '3s' } },
        patient: { cron: '0 3 * * *', command: ['a'], misfire: { window: '7d' } },
        call: { cron: '0 3 * * *', http: { url: 'https://example.com/' } },
      },
      ...K8S,
    )
    assert.deepEqual(told, [
      ...[
        ...['jitter', 'pauseAfter', 'concurrency', 'group', "misfire: 'all'", "overlap: 'queue-all'", 'start, end'],
        'limit',
      ].map((what) => `busy: changed ${what}`),
      'strict: changed misfire.grace',
      'patient: changed misfire.window',
      'call: lost an HTTP request',
    ])
  })

  test('gives names that Kubernetes takes, the same for the same jobs', () => {
    const long = 'a'.repeat(60)
    const names = ['report:ada', 'report-ada', 'Nightly Backup', long, `${long}b`, '日本', 'x.y']
    const given = k8sNames(names)
    assert.equal(given.get('report-ada'), 'report-ada')
    assert.match(given.get('report:ada')!, /^report-ada-[0-9a-f]{6}$/)
    assert.equal(given.get('Nightly Backup'), 'nightly-backup')
    assert.equal(new Set(given.values()).size, names.length)
    for (const name of given.values()) assert.match(name, /^(?=.{1,52}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    assert.deepEqual(new Map([...given].toSorted()), new Map([...k8sNames(names.toReversed())].toSorted()))
  })

  test('with --kind deployment writes cronce start, with probes and time to drain', async (context) => {
    const { status, text } = await exported(
      context,
      'k8s',
      { a: { cron: '* * * * * *', command: ['a'] } },
      ...K8S,
      ...['--kind', 'deployment', '--replicas', '3', '--drain', '90s', '--secret', 'shop-store', '--name', 'shop'],
    )
    assert.equal(status, 0)
    const [deployment, budget] = manifests(text)
    const { spec } = deployment.spec.template
    assert.equal(deployment.spec.replicas, 3)
    assert.equal(spec.terminationGracePeriodSeconds, 105)
    const [container] = spec.containers
    assert.deepEqual(container.command, ['cronce', 'start', 'jobs.json', '--listen', '0.0.0.0:7070', '--drain', '90s'])
    assert.equal(container.livenessProbe.httpGet.path, '/livez')
    assert.equal(container.readinessProbe.httpGet.path, '/readyz')
    assert.equal(container.env[0].valueFrom.secretKeyRef.name, 'shop-store')
    assert.equal(container.securityContext.readOnlyRootFilesystem, true)
    assert.equal(spec.securityContext.runAsNonRoot, true)
    assert.equal(budget.kind, 'PodDisruptionBudget')
    assert.deepEqual(budget.spec.selector, deployment.spec.selector)
    assert.deepEqual(deployment.spec.selector.matchLabels, { 'app.kubernetes.io/name': 'shop' })
    assert.equal(deployment.spec.template.metadata.labels['app.kubernetes.io/name'], 'shop')
  })

  test('a dollar in a command reaches the command', async (context) => {
    const text = 'echo $$ $(date) $$(x) $HOME $'
    const { text: yaml } = await exported(
      context,
      'k8s',
      { a: { cron: '0 3 * * *', command: text, shell: true } },
      ...K8S,
    )
    const [manifest] = manifests(yaml)
    const words: string[] = manifest.spec.jobTemplate.spec.template.spec.containers[0].command
    assert.equal(words.at(-1), 'echo $$$$ $$(date) $$$$(x) $HOME $')
    const { items } = importK8s([{ file: 'x', text: yaml }], Date.now())
    assert.equal(items[0]!.kind === 'job' && items[0]!.job.options.command, text)
  })

  test('two pods of a Job run its command once', async (context) => {
    const cwd = folder(context)
    const { text } = await exported(
      context,
      'k8s',
      { 'once only': { cron: '* * * * *', command: 'echo "$CRONCE_DUE" >> "$T/log"', shell: true, cwd } },
      ...K8S,
    )
    const [{ metadata, spec }] = manifests(text)
    const [container] = spec.jobTemplate.spec.template.spec.containers
    const [program, ...args] = container.command
    assert.equal(program, 'cronce')
    // As Kubernetes calls the Job: the CronJob, and the minute that it stands for.
    const minute = Math.floor(Date.now() / 60_000)
    const env = {
      CRONCE_STORE: `sqlite:${join(cwd, 'cronce.db')}`,
      CRONCE_K8S_JOB: `${metadata.name}-${minute}`,
      T: container.workingDir,
    }
    const pods = await Promise.all([1, 2].map(() => start(process.execPath, [MAIN, ...args], env)))
    assert.deepEqual(
      pods.map(({ status }) => status),
      [0, 0],
      pods.map(({ stderr }) => stderr).join(),
    )
    assert.equal(readFileSync(join(cwd, 'log'), 'utf8'), `${new Date(minute * 60_000).toISOString()}\n`)
  })
})

describe('cronce export crontab', () => {
  test('writes lines that claim their fire, in the zone that they are in', async (context) => {
    const { status, text, told } = await exported(context, 'crontab', {
      a: { cron: '0 3 * * *', command: ['date', '+%F', "it's"] },
      b: { cron: '@daily', tz: 'Asia/Tokyo', command: 'a | b', shell: true, cwd: '/a b', env: { X: 'y z' } },
      c: { cron: '0 0 1 * 1', tz: 'Asia/Tokyo', command: ['cat'], stdin: { text: '1\n50%\n' }, overlap: 'replace' },
      d: { cron: '0 0 L * *', command: ['a'] },
      e: { cron: '0 0 * * *', command: ['echo', 'a\nb'] },
      f: { cron: '0 0 */2 * 1', dialect: 'vixie', command: ['both'] },
      g: { cron: '0 0 * * *', command: ['a'], env: { 'A-B': 'c' } },
    })
    assert.equal(status, 1)
    assert.match(text, /\nPATH=\/[^\n]*:\/usr\/bin:\/bin\n/)
    assert.deepEqual(text.split('\n').slice(5), [
      '',
      'CRON_TZ=UTC',
      "0 3 * * * cronce exec --name a --due auto --cron '0 3 * * *' --tz UTC -- date +\\%F 'it'\\''s'",
      '',
      'CRON_TZ=Asia/Tokyo',
      "@daily cd '/a b' && CRONCE_ENV_X='y z' cronce exec --name b --due auto --cron @daily --tz Asia/Tokyo -- /bin/sh -c 'a | b'",
      '',
      "0 0 1 * 1 cronce exec --name c --due auto --cron '0 0 1 * 1' --tz Asia/Tokyo --overlap queue -- cat%1%50\\%",
      '',
      '# not translated: d: its schedule: cron has no way to say it: it has L, W or #: 0 0 L * *',
      '',
      '# not translated: e: its command: a line of cron can hold no line ends',
      '',
      'CRON_TZ=UTC',
      "0 0 */2 * 1 cronce exec --name f --due auto --cron '0 0 1-31/2 * +1' --tz UTC -- both",
      '',
      '# not translated: g: the variable A-B: a shell has no such names',
      '',
    ])
    assert.deepEqual(told, [
      "c: changed overlap: 'replace'",
      'd: lost its schedule',
      'e: lost its command',
      'g: lost the variable A-B',
    ])
  })

  test('has a PATH with the folders of cronce and node, the first in which they are', (context) => {
    const root = folder(context)
    const [none, tools, later] = ['none', 'tools', 'later'].map((name) => join(root, name))
    for (const path of [none, tools, later]) mkdirSync(path!)
    for (const path of [tools, later]) writeFileSync(join(path!, 'cronce'), '')
    writeFileSync(join(later!, 'node'), '')
    assert.equal(programPath({ PATH: ['.', none, tools, later].join(':') }), `${tools}:${later}:/usr/bin:/bin`)
    assert.equal(programPath({ PATH: tools }), `${tools}:${dirname(process.execPath)}:/usr/bin:/bin`)
  })

  test('from a store lists the schedules, and reports that their code is elsewhere', async (context) => {
    const cwd = folder(context)
    const store = `sqlite:${join(cwd, 'cronce.db')}`
    const client = await connect({ store, logger: false })
    await client.schedules.create('report:ada', { job: 'report', cron: '0 8 * * *' })
    await client.close()
    const { status, stdout, stderr } = await ask(['export', 'crontab', '--store', store], {}, { cwd })
    assert.equal(status, 1)
    assert.match(stdout, /# not translated: report:ada: job report/)
    assert.match(stderr, /run it with cronce start/)
  })

  test('invalid arguments are refused', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'jobs.json'), '{}')
    for (const [args, status, message] of [
      [['export'], 2, /Export to what/],
      [['export', 'systemd'], 2, /no export to "systemd"/],
      [['export', 'crontab'], 2, /Which jobs/],
      [['export', 'crontab', 'jobs.json', 'b'], 2, /One file with jobs/],
      [['export', 'k8s', 'jobs.json', '--replicas', '0'], 0, /No --image/],
      [['export', 'k8s', 'jobs.json', '--kind', 'deployment', '--replicas', '0'], 2, /--replicas cannot be/],
      [['export', 'k8s', 'jobs.json', '--out', 'jobs.json'], 4, /is there already/],
    ] as const) {
      const result = await ask(args, {}, { cwd })
      assert.equal(result.status, status, args.join(' '))
      assert.match(result.stderr, message)
    }
  })
})

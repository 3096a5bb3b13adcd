import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { connect } from 'cronce'
import fc from 'fast-check'
import { importCrontab } from '../src/import/crontab-jobs.ts'
import { readCrontab } from '../src/import/crontab-lines.ts'
import { jobsOf } from '../src/import/imported.ts'
import { renderJobs } from '../src/import/render-jobs.ts'
import { loadJobsFile } from '../src/service/load-jobs.ts'
import { anyText } from './any-text.ts'
import { ask, MAIN } from './cronce.ts'

const FIXTURE = fileURLToPath(new URL('./fixtures/crontab.txt', import.meta.url))
const UTC = { TZ: 'UTC' }

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'cronce-import-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('cronce import crontab', () => {
  test('prints TypeScript on stdout, and on stderr a table of what is different; 1 if something is lost', async () => {
    const crontab = ['# nightly', 'MAILTO=me', '0 3 * * * backup', '@reboot start', ''].join('\n')
    const { status, stdout, stderr } = await ask(['import', 'crontab', '-'], UTC, { input: crontab })

    assert.equal(status, 1)
    assert.equal(
      stdout,
      [
        'export default {',
        '  // nightly',
        '',
        '  backup: {',
        "    cron: '0 3 * * *',",
        "    command: 'backup',",
        "    shell: '/bin/sh',",
        '  },',
        '',
        '  // not translated (line 4): @reboot start',
        '}',
        '',
      ].join('\n'),
    )
    const [head, mail, environment, reboot, note] = stderr.split('\n')
    assert.match(head!, /^LINE {2}WHAT +WHY +WHAT TO DO$/)
    assert.match(mail!, /^2 +MAILTO=me +nothing is mailed/)
    assert.match(environment!, /^3 +the environment +cron gives all commands a short PATH/)
    assert.match(reboot!, /^4 +@reboot +the start of a machine/)
    assert.equal(note, 'note: 1 job; 1 thing did not translate, kept as a comment.')
  })

  test('exits with 0 if everything translates, also if some of it is different', async () => {
    const { status, stderr } = await ask(['import', 'crontab'], UTC, { input: 'MAILTO=me\n0 3 * * * backup\n' })
    assert.equal(status, 0)
    assert.match(stderr, /MAILTO=me/)
  })

  test('on a narrow terminal the report is not truncated', async () => {
    const { stderr } = await ask(['import', 'crontab', '-'], UTC, { input: '@reboot start\n', columns: 60 })
    assert.ok(stderr.split('\n').every((line) => line.length <= 60))
    assert.match(stderr.replace(/\s+/g, ' '), /not an instant that a fleet could agree on: start it with the machine/)
  })

  test('of several crontabs, a line of several servers is one job, and the report states that it runs on one', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'web-1.txt'), '# all\n0 3 * * * backup\n10 4 * * * rotate\n@reboot start\n')
    writeFileSync(join(cwd, 'web-2.txt'), '# all\n0 3 * * * backup\n20 4 * * * rotate\n')
    writeFileSync(
      join(cwd, 'db.txt'),
      '0 3 * * * backup\n0 3 * * * backup\n0 1 * * * cronce exec --name vacuum -- vacuum\n',
    )
    const files = ['web-1.txt', 'web-2.txt', 'db.txt']
    const text = await ask(['import', 'crontab', ...files], UTC, { cwd })
    const json = await ask(['import', 'crontab', ...files, '--json'], UTC, { cwd })
    const { items, findings } = JSON.parse(json.stdout)
    assert.deepEqual([text.status, json.status], [1, 1], '@reboot does not translate')
    type Item = { name: string; places: { file: string; line: number }[] }
    assert.deepEqual(
      items.map(({ name, places }: Item) => [name, ...places.map(({ file, line }) => `${file}:${line}`)]),
      [
        ['backup', 'web-1.txt:2', 'web-2.txt:2', 'db.txt:1'],
        ['rotate', 'web-1.txt:3'],
        ['rotate-2', 'web-2.txt:3'],
        ['backup-2', 'db.txt:2'],
        ['vacuum', 'db.txt:3'],
      ],
    )
    const about = findings.map(({ what, why }: { what: string; why: string }) => `${what}: ${why}`).join('\n')
    assert.match(about, /backup runs on one server: it ran on each of 3 servers \(web-1, web-2, db\)/)
    assert.match(
      about,
      /3 jobs run on any server: only one server had each of rotate \(web-1\), rotate-2 \(web-2\), backup-2 \(db\)/,
    )
    assert.match(about, /rotate-2 is rotate with other options: web-1 runs the same command at another time/)
    assert.doesNotMatch(about, /vacuum runs on/, 'exec ran it once already')
    assert.equal(about.match(/the environment/g)?.length, 1)
    assert.match(text.stdout, /\/\/ from web-1 \(line 2\), web-2 \(line 2\), db \(line 1\)\n {2}backup: \{/)
    assert.match(text.stdout, /not translated \(web-1, line 4\): @reboot start/)
    const todo = findings.map(({ todo: what }: { todo: string }) => what).join('\n')
    assert.match(todo, /add hosts: 'each' if each server needs it.*--hosts each/)
    assert.match(todo, /if so, add on: \{ host \}/)
  })

  test('with --hosts each, every job of several crontabs runs where its line did', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'web-1.txt'), '0 3 * * * backup\n10 4 * * * rotate\n5 5 * * * one\n')
    writeFileSync(join(cwd, 'web-2.txt'), '0 3 * * * backup\n10 4 * * * rotate\n')
    writeFileSync(join(cwd, 'db.txt'), '0 3 * * * backup\n0 1 * * * cronce exec --name vacuum -- vacuum\n')
    const args = ['import', 'crontab', 'web-1.txt', 'web-2.txt', 'db.txt', '--hosts', 'each', '--json']
    const { stdout, status } = await ask(args, UTC, { cwd })
    const { items, findings } = JSON.parse(stdout)
    assert.equal(status, 0)
    type Item = { name: string; options: { hosts?: string; on?: unknown } }
    assert.deepEqual(
      items.map(({ name, options: { hosts, on } }: Item) => [name, hosts, on]),
      [
        ['backup', 'each', undefined],
        ['rotate', 'each', { host: ['web-1', 'web-2'] }],
        ['one', undefined, { host: 'web-1' }],
        ['vacuum', undefined, undefined],
      ],
    )
    const about = findings.map(({ what }: { what: string }) => what).join('\n')
    assert.match(about, /the hosts web-1, web-2, db/)
    assert.doesNotMatch(about, /runs on (one|any) server/)
  })

  test('of several crontabs, the report names the file of each line, also if all of it is about one file', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'web-1.txt'), '0 3 * * * backup\n10 4 * * * rotate\n')
    writeFileSync(join(cwd, 'web-2.txt'), '0 3 * * * backup\n')
    const { stderr } = await ask(['import', 'crontab', 'web-1.txt', 'web-2.txt', '--hosts', 'each'], UTC, { cwd })
    assert.match(stderr, /^web-1\.txt:2 +the hosts web-1, web-2/m)
    assert.match(stderr, /^web-1\.txt:1 +the environment/m)
    const alone = await ask(['import', 'crontab', 'web-1.txt'], UTC, { cwd })
    assert.match(alone.stderr, /^1 +the environment/m)
  })

  test('of several crontabs, what any of them says above a line is kept beside its job, once', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'web-1.txt'), '# all\n# nightly\n0 3 * * * backup\n')
    writeFileSync(join(cwd, 'web-2.txt'), '# all\n# the disk of web-2 is small\n0 3 * * * backup\n')
    writeFileSync(join(cwd, 'web-3.txt'), '# the disk of web-2 is small\n0 3 * * * backup\n# the end\n')
    const { stdout } = await ask(['import', 'crontab', 'web-1.txt', 'web-2.txt', 'web-3.txt'], UTC, { cwd })
    assert.deepEqual(stdout.match(/\/\/ .*/g), [
      '// all',
      '// nightly',
      '// web-2: the disk of web-2 is small',
      '// from web-1 (line 3), web-2 (line 3), web-3 (line 2)',
      '// the end',
    ])
  })

  test('a line under another PATH is reported with what differs, and --join makes one job of it', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'web-1.txt'), 'PATH=/bin\n0 3 * * * backup\n')
    writeFileSync(join(cwd, 'web-2.txt'), 'PATH=/usr/bin\nSHELL=/bin/bash\n0 3 * * * backup\n')
    const call = async (...args: string[]) => {
      const { stdout } = await ask(['import', 'crontab', 'web-1.txt', 'web-2.txt', '--json', ...args], UTC, { cwd })
      const { items, findings } = JSON.parse(stdout)
      const names: string[] = items.map(({ name }: { name: string }) => name)
      const told: string[] = findings.map(({ what }: { what: string }) => what)
      return { names, told, items }
    }
    const apart = await call()
    assert.deepEqual(apart.names, ['backup', 'backup-2'])
    assert.ok(apart.told.includes('backup-2 is backup with another PATH, SHELL (same line)'), apart.told.join('\n'))
    const joined = await call('--join')
    assert.deepEqual(joined.names, ['backup'])
    assert.equal(joined.items[0].options.env.PATH, '/bin')
    assert.ok(joined.told.includes('backup has the PATH, SHELL of web-1'), joined.told.join('\n'))
    assert.ok(joined.told.includes('backup runs on one server'))
  })

  test('a file that package.json makes CommonJS is reported, and how it loads', async (context) => {
    const cwd = folder(context)
    writeFileSync(join(cwd, 'package.json'), '{ "type": "commonjs" }')
    const call = (out: string) => ask(['import', 'crontab', '--out', out], UTC, { cwd, input: '0 3 * * * backup\n' })
    const told = (await call('jobs.ts')).stderr
    assert.match(
      told,
      /package\.json says "type": "commonjs"\. Rename it to jobs\.mts, or run npm pkg set type=module\./,
    )
    assert.match((await call('jobs.mts')).stderr, /try cronce start jobs\.mts/)
    await assert.rejects(loadJobsFile(join(cwd, 'jobs.ts')), {
      code: 'JOBS_FAILED',
      hint: 'package.json says "type": "commonjs": rename it to jobs.mts, or run npm pkg set type=module.',
    })
  })

  test('--json is one object with the jobs and the findings', async () => {
    const { status, stdout, stderr } = await ask(['import', 'crontab', FIXTURE, '--json'], UTC)
    const { version, items, findings, comments, written } = JSON.parse(stdout)
    assert.equal(status, 1)
    assert.equal(stderr, '')
    assert.equal(version, 1)
    assert.equal(items.length, 28)
    assert.deepEqual(items[0].place, { file: FIXTURE, line: 11 })
    assert.equal(findings.filter(({ level }: { level: string }) => level === 'lost').length, 9)
    assert.equal(comments.length, 10)
    assert.equal(written, null)
  })

  test('--out writes the file once, in the form of its ending; --dry-run writes nothing', async (context) => {
    const cwd = folder(context)
    const input = '# why\n0 3 * * * backup\n'
    const call = (...args: string[]) => ask(['import', 'crontab', '-', ...args], UTC, { cwd, input })

    const dry = await call('--out', 'jobs.json', '--dry-run')
    assert.equal(dry.status, 0)
    assert.match(dry.stderr, /Nothing was written/)
    assert.equal(existsSync(join(cwd, 'jobs.json')), false)

    const written = await call('--out', 'jobs.json')
    assert.equal(written.status, 0)
    assert.equal(written.stdout, '')
    const expected = { backup: { $comment: ['why'], cron: '0 3 * * *', command: 'backup', shell: '/bin/sh' } }
    assert.deepEqual(JSON.parse(readFileSync(join(cwd, 'jobs.json'), 'utf8')), expected)
    assert.equal(dry.stdout, readFileSync(join(cwd, 'jobs.json'), 'utf8'))

    writeFileSync(join(cwd, 'jobs.json'), 'mine')
    const refused = await call('--out', 'jobs.json', '--json')
    assert.equal(JSON.parse(refused.stderr).error.code, 'FILE_EXISTS')
    assert.equal(refused.status, 4)
    assert.equal(readFileSync(join(cwd, 'jobs.json'), 'utf8'), 'mine')
    assert.equal((await call('--out', 'jobs.json', '--force')).status, 0)

    assert.equal((await call('--out', 'jobs.ts')).status, 0)
    const { default: jobs } = await import(pathToFileURL(join(cwd, 'jobs.ts')).href)
    assert.deepEqual(jobs, { backup: { cron: '0 3 * * *', command: 'backup', shell: '/bin/sh' } })
  })

  test('invalid arguments are refused, with their own exit code', async (context) => {
    const cwd = folder(context)
    for (const [args, status, message] of [
      [['import'], 2, /Import from what/],
      [['import', 'crontabs'], 2, /Did you mean crontab/],
      [['import', 'crontab', 'a', 'a'], 2, /a is named twice/],
      [['import', 'crontab', 'missing'], 3, /There is no file missing/],
      [['import', 'crontab', '.'], 1, /can't be read/],
      [['import', 'crontab', '-', '--out', 'jobs.yaml'], 2, /does not say in which form/],
      [['import', 'crontab', '-', '--out', 'jobs.ts', '--format', 'json'], 2, /contradicts/],
      [['import', 'crontab', '-', '--out', 'no/such/jobs.ts'], 1, /can't be written/],
      [['import', 'k8s'], 2, /Import which file/],
      [['import', 'k8s', 'a', '--tz', 'UTC'], 2, /about crontab/],
    ] as const) {
      const result = await ask(args, UTC, { cwd, input: '' })
      assert.equal(result.status, status, args.join(' '))
      assert.match(result.stderr, message)
    }
    const binary = await ask(['import', 'crontab', '-'], UTC, { cwd, input: '\0\0' })
    assert.equal(binary.status, 1)
    assert.match(binary.stderr, /binary or too large/)
  })

  test('/etc/crontab is known to have users', async (context) => {
    const cwd = folder(context)
    const { mkdirSync } = await import('node:fs')
    mkdirSync(join(cwd, 'etc/cron.d'), { recursive: true })
    writeFileSync(join(cwd, 'etc/cron.d/app'), '0 3 * * * root backup\n')
    const { status, stdout } = await ask(['import', 'crontab', 'etc/cron.d/app', '--format', 'json'], UTC, { cwd })
    assert.equal(status, 0)
    assert.equal(JSON.parse(stdout).backup.command, 'backup')
  })

  test('every job that comes out of it runs under cronce start, and does what its line does', async (context) => {
    const cwd = folder(context)
    const file = join(cwd, 'jobs.json')
    assert.equal((await ask(['import', 'crontab', FIXTURE, '--out', file], UTC)).status, 1)
    const store = `sqlite:${join(cwd, 'cronce.db')}`
    const service = spawn(process.execPath, [MAIN, 'start', file, '--store', store], {
      env: { ...process.env, T: cwd, NODE_ENV: 'test' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    service.stderr.setEncoding('utf8').on('data', (text) => (said += text))
    const ended = once(service, 'exit')
    context.after(async () => {
      if (service.exitCode === null) service.kill('SIGKILL')
      await ended
    })

    const names = Object.keys(JSON.parse(readFileSync(file, 'utf8'))).filter((name) => name !== '$comment')
    assert.equal(names.length, 28)
    await until(async () => {
      assert.equal(service.exitCode, null, said)
      return existsSync(join(cwd, 'cronce.db'))
    })
    const client = await connect({ store, logger: false })
    context.after(() => client.close())
    await until(async () => (await client.schedules.list({ limit: 100 })).items.length === names.length)
    for (const name of names) await client.schedules.trigger(name, { dedupe: 'test' })
    await until(async () => {
      const { items } = await client.fires.list({ limit: 1_000 })
      const ours = items.filter(({ nonce }) => nonce === 'test')
      return ours.length === names.length && ours.every(({ state }) => state !== 'open')
    })

    const { items } = await client.fires.list({ limit: 1_000 })
    assert.deepEqual(
      items.filter(({ state, nonce }) => nonce === 'test' && state !== 'succeeded'),
      [],
    )
    const written = readFileSync(join(cwd, 'log'), 'utf8').trimEnd().split('\n')
    // Each line names its subject; one of them has two lines, and a due time may have come besides.
    const expected = readFileSync(FIXTURE, 'utf8')
      .split('\n')
      .flatMap((line) =>
        /never|step-|out-of|six-|reboot|fortnightly/.test(line) ? [] : (/echo (\S+)/.exec(line)?.[1] ?? []),
      )
    assert.deepEqual(
      [...new Set(written)].toSorted(),
      [...new Set([...expected, 'percent', '100%', 'escaped-percent'])].toSorted(),
    )
    service.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })
})

/** Ask until it is so; a minute is for ever. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await isSo()) return
    await delay(100)
  }
  assert.fail('it never came true')
}

describe('any text', () => {
  const line = fc.oneof(
    anyText(40),
    fc
      .array(
        fc.constantFrom(
          '*',
          '0',
          '5',
          '*/2',
          '1-5',
          '@daily',
          '@reboot',
          '@',
          'root',
          '%',
          '\\',
          "'",
          '"',
          '=',
          ' ',
          '\t',
          '~',
          '-',
          '#',
          'A',
          '$(x)',
          'cronce',
          'exec',
          '--name',
          '--',
        ),
        { maxLength: 14 },
      )
      .map((parts) => parts.join(' ')),
    fc.constantFrom(
      'MAILTO=x',
      'CRON_TZ=Europe/London',
      'CRON_TZ=',
      'SHELL=/bin/bash',
      '0 3 * * * run',
      "7 7 * * * cronce exec --name __proto__ -- a 'b c'",
    ),
  )
  const text = fc
    .array(line, { maxLength: 12 })
    .chain((lines) => fc.constantFrom('\n', '\r\n').map((end) => lines.join(end)))
  const options = { file: 'x', tz: 'UTC', cwd: null, user: 'root', likeCron: false }

  test('can be read as a crontab: every line is accounted for', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (crontab, isSystem) => {
        const { lines } = readCrontab(crontab, { isSystem })
        const imported = importCrontab(crontab, { ...options, isSystem })
        const jobs = new Set(jobsOf(imported).map(({ place }) => place.line))
        const lost = new Set(imported.findings.flatMap(({ place, level }) => (level === 'lost' ? [place.line] : [])))
        for (const { kind, line: number } of lines) {
          assert.equal(jobs.has(number) || lost.has(number), kind === 'entry' || kind === 'broken')
          assert.ok(!(jobs.has(number) && lost.has(number)))
        }
        assert.equal(new Set(jobsOf(imported).map(({ name }) => name)).size, jobs.size)
      }),
      { numRuns: 500 },
    )
  })

  test('produces equivalent TypeScript and JSON', () => {
    fc.assert(
      fc.property(text, (crontab) => {
        const imported = importCrontab(crontab, { ...options, isSystem: false })
        const script = renderJobs(imported, 'ts').replace('export default ', '(').replace(/\n$/, ')')
        const read = runInNewContext(script)
        const jobs = jobsOf(imported).map(({ name, options: job }) => [name, job] as const)
        assert.equal(Object.keys(read).length, jobs.length)
        for (const [name, job] of jobs) assert.equal(JSON.stringify(read[name]), JSON.stringify(job))
        const plain = JSON.parse(renderJobs(imported, 'json'))
        for (const [name, job] of jobs) {
          const { $comment: _, ...rest } = plain[name]
          assert.equal(JSON.stringify(rest), JSON.stringify(job))
        }
      }),
      { numRuns: 300 },
    )
  })
})

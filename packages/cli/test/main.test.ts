import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { COMMANDS } from '../src/commands/index.ts'
import { onStreamError } from '../src/stream-errors.ts'
import { call, cronce, MAIN, start } from './cronce.ts'

describe('cronce', { concurrency: 4 }, () => {
  test('points at the trouble in a bad expression and leaves stdout empty', async () => {
    const { status, stdout, stderr } = await cronce(['next', '0 22-2 * * *'])

    assert.equal(status, 2)
    assert.equal(stdout, '')
    assert.equal(
      stderr,
      [
        'error: The range 22-2 runs backward in the hour field, in "0 22-2 * * *".',
        '',
        '  0 22-2 * * *',
        '    ^^^^',
        '',
        'hint: Write 22-23,0-2, or add --wrap.',
        '',
      ].join('\n'),
    )
  })

  test('speaks of flags where the library speaks of options', async () => {
    const zone = await call('next', 'TZ=Europe/London 0 9 * * *', '--dialect', 'kubernetes')
    const wrap = await call('next', '0 22-2/2 * * *')
    assert.match(zone.stderr, /\nhint: Add --tz\.\n$/)
    assert.match(wrap.stderr, /\nhint: .*[Aa]dd --wrap\.\n$/)
  })

  test('reports what was expected if there is no better hint', async () => {
    const { stderr } = await call('next', '61 * * * *')
    assert.match(stderr, /\n {2}61 \* \* \* \*\n {2}\^\^\n\nhint: Expected 0 to 59\.\n$/)
  })

  test('keeps the carets under the place after any prefix', async () => {
    const long = `${'1,'.repeat(60)}99 * * * *`
    const expressions = ['０ 0 * * *', '0 9 * * 1,', '\t5 60h * * *', '0 \x1b[31m * * *', long]
    const frames = await Promise.all(
      expressions.map(async (expression) => {
        const [shown, carets] = (await call('explain', expression)).stderr.split('\n').slice(2)
        return { shown: shown!, from: carets!.indexOf('^'), carets: carets!.trim() }
      }),
    )
    const [wide, missing, tab, control, cut] = frames
    assert.deepEqual(wide, { shown: '  ０ 0 * * *', from: 2, carets: '^^' })
    assert.deepEqual(missing, { shown: '  0 9 * * 1,', from: 12, carets: '^' })
    assert.deepEqual(tab, { shown: '   5 60h * * *', from: 5, carets: '^^' })
    assert.deepEqual(control, { shown: '  0 <U+001B>[31m * * *', from: 4, carets: '^^^^^^^^' })
    assert.match(cut!.shown, /^ {2}….{60,72}$/)
    assert.equal(cut!.shown.slice(cut!.from, cut!.from + cut!.carets.length), '99')
  })

  test('with --json an error is an object on stderr', async () => {
    const bad = await cronce(['next', '* * * * 8', '--json'])
    const usage = await call('next', '* * * * *', '--json', '--dst', 'walls')
    assert.deepEqual([bad.status, bad.stdout, usage.status, usage.stdout], [2, '', 2, ''])
    const { message, ...error } = JSON.parse(bad.stderr).error
    assert.match(message, /8/)
    assert.deepEqual(error, {
      code: 'VALUE_OUT_OF_RANGE',
      hint: 'Sunday is 0, Saturday is 6.',
      field: 'day of week',
      position: 8,
      length: 1,
      expected: '0 to 7',
    })
    assert.deepEqual(JSON.parse(usage.stderr), {
      error: {
        code: 'USAGE',
        message: '--dst cannot be "walls". Did you mean wall?',
        hint: 'Choose one of: auto, wall, once, shift.',
      },
    })
  })

  test('asks whether something else was meant', async () => {
    const results = [
      await cronce(['nxt', '* * * * *']),
      await call('next', '* * * * *', '--form', 'now'),
      await call('next', '* * * * *', '--tz', 'Europe/Londn'),
      await call('0 9 * * *'),
      await call('next', '0', '9', '*', '*', '*'),
      await call('frobnicate'),
      await call('exp', '* * * * *'),
      await call('run', 'a', '--payload', '{}'),
      await call('next', '* * * * *', '-F', 'now'),
      await call('explain', '* * * * *', '-n', '3'),
      await call('explain', '* * * * *', '--n', '3'),
    ]
    assert.deepEqual(
      results.map(({ status, stdout }) => [status, stdout]),
      results.map(() => [2, '']),
    )
    const [command, flag, zone, bare, unquoted, unknown, short, payload, from, ...letters] = results.map(
      ({ stderr }) => stderr,
    )
    assert.match(command!, /Unknown command "nxt"\. Did you mean next\?/)
    assert.match(flag!, /Unknown flag --form\. Did you mean --from\?/)
    assert.match(zone!, /hint: Did you mean Europe\/London\?/)
    assert.match(bare!, /hint: Try: cronce next "0 9 \* \* \*"/)
    assert.match(unquoted!, /Expected one expression, got 5 arguments\.\nhint: Put the expression in quotes/)
    assert.doesNotMatch(unknown!, /Did you mean/)
    assert.match(short!, /Unknown command "exp"\. Did you mean explain\?/)
    assert.match(payload!, /Unknown flag --payload\. Did you mean --input\?/)
    assert.match(from!, /Unknown flag -F\. Did you mean --from\?/)
    for (const letter of letters)
      assert.match(letter, /^error: Unknown flag --?n\.\nhint: See --help for all flags\.\n$/)
  })

  test('suggests the command that does what is asked for under another name', async () => {
    const meant = {
      jobs: 'list',
      status: 'list (schedules), instances (processes) or doctor (health)',
      history: 'runs (what was run) or fires (what was due)',
      put: 'schedule put',
      verify: 'fires --verify',
      stop: 'drain',
      rm: 'remove',
    }
    for (const [typed, name] of Object.entries(meant)) {
      const { status, stderr } = await call(typed)
      assert.equal(status, 2)
      assert.equal(stderr.split('\n')[0], `error: Unknown command "${typed}". Did you mean ${name}?`)
    }
  })

  test('judges the flags before it asks for a store', async () => {
    const wrong = [
      ['fires', '--limit', 'x'],
      ['list', '--limit', '0'],
      ['runs', '--all', '--limit', '5'],
      ['fires', '--from', 'someday'],
      ['fires', '--verify', '--to', 'someday'],
      ['runs', '--to', 'someday'],
      ['tail', '--from', 'someday'],
      ['pause', 'a', '--until', 'someday'],
      ['skip-next', 'a', '--due', 'someday'],
      ['backfill', 'a', '--from', 'someday'],
      ['forecast', '--from', 'someday'],
    ]
    const expected = /^error: (--limit cannot be|--all and --limit contradict|--[a-z]+ "someday" is not a time)/
    for (const args of wrong) {
      const { status, stderr } = await call(...args)
      assert.equal(status, 2)
      assert.match(stderr, expected, args.join(' '))
    }
  })

  test('has --json or --jsonl for every command that prints data', async () => {
    const without: string[] = []
    for (const { name, hidden, load } of COMMANDS) {
      const { flags } = await load()
      if (!hidden && !('json' in flags) && !('jsonl' in flags)) without.push(name)
    }
    assert.deepEqual(without, ['dev', 'exec', 'demo', 'completion'], 'as README.md and docs/cli.md say')
  })

  test('refuses a --from that is not a time', async () => {
    const times = ['2027-02-30', 'someday', '2h', '2027-01-01T25:00', '2027-01-01T10:00+99:00', 'now+2x', '0000-06-01']
    const results = await Promise.all(times.map((from) => call('next', '* * * * *', '--from', from)))
    for (const { status, stdout, stderr } of results) {
      assert.deepEqual([status, stdout], [2, ''])
      assert.match(stderr, /^error: .*\n[\s\S]*hint: Write/)
    }
  })

  test('helps at every level, examples first', async () => {
    const all = await cronce(['--help'])
    const short = await call('-h')
    const command = await call('help', 'next')
    const flag = await call('next', '--help')
    const none = await call()
    assert.match(
      all.stdout,
      /^cronce: .*\n\nExamples\n {2}cronce next [\s\S]*\nWithout a store\n {2}next .*\n {2}explain /,
    )
    assert.deepEqual(short, all)
    assert.match(
      command.stdout,
      /^Show when an expression fires next\.\n\nExamples\n[\s\S]*\nUsage\n[\s\S]*-n, --count N/,
    )
    assert.deepEqual(flag, command)
    assert.deepEqual([all.status, flag.status], [0, 0])
    assert.deepEqual(none, { status: 2, stdout: '', stderr: all.stdout })
  })

  test('prints its version, also as a symlinked bin in another directory', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronce-bin-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const link = join(folder, 'cronce')
    symlinkSync(MAIN, link)
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

    const results = await Promise.all([cronce(['--version']), start(process.execPath, [link, 'version'], {})])
    for (const { stdout } of results) assert.equal(stdout, `${manifest.version}\n`)
    assert.match(readFileSync(MAIN, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  })

  test('prints the same bytes in every zone of the host', async () => {
    for (const args of [
      ['next', '30 1 * * *', '--tz', 'Europe/London', '--from', '2027-03-27'],
      ['explain', '0 0 13 * FRI', '--from', '2027-03-27T10:00'],
    ]) {
      const zones = ['Asia/Tokyo', 'America/New_York', 'UTC']
      const [tokyo, ...others] = await Promise.all(zones.map((TZ) => cronce(args, { TZ })))
      for (const other of others) assert.deepEqual(other, tokyo)
    }
  })

  test('survives a reader that goes away', async () => {
    const command = `"${process.execPath}" "${MAIN}" next "* * * * * *" -n 1000 --from 2027-01-01 | head -1`
    const result = await start('bash', ['-o', 'pipefail', '-c', command], {})
    assert.deepEqual(result, { status: 0, stdout: 'Fri 2027-01-01 00:00:01 UTC  in 1s\n', stderr: '' })
  })

  test('a reader that goes away ends what only prints; what runs, changes or judges something goes on', () => {
    const wayOf = (stream: 'stdout' | 'stderr', code: string, ...argv: string[]) =>
      onStreamError({ argv, stream, error: { code, message: code } }).exit
    assert.deepEqual(
      [wayOf('stdout', 'EPIPE', 'tail'), wayOf('stdout', 'EPIPE', 'next'), wayOf('stdout', 'EPIPE', '--help')],
      [0, 0, 0],
    )
    for (const name of ['start', 'exec', 'dev', 'pause', 'trigger', 'doctor'])
      assert.equal(wayOf('stdout', 'EPIPE', name), null, name)
    assert.equal(wayOf('stdout', 'EPIPE', 'fires', '--verify'), null)
    for (const name of ['start', 'exec', 'next', 'pause']) assert.equal(wayOf('stderr', 'EPIPE', name), null, name)
    assert.deepEqual([wayOf('stdout', 'ENOSPC', 'next'), wayOf('stderr', 'ENOSPC', 'start')], [1, null])
  })

  test('a Node.js that is too old is reported before anything is read', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.1' } })"
    const result = await start(process.execPath, ['--import', `data:text/javascript,${old}`, MAIN, 'version'], {})
    assert.deepEqual(result, {
      status: 1,
      stdout: '',
      stderr:
        'cronce needs Node.js 22.18 or later, but this is 22.17.1.\nInstall Node.js 24, for example with `nvm install 24`, and run the command again.\n',
    })
  })

  const full = existsSync('/dev/full') ? false : 'no /dev/full on this system'
  test('reports in one line that its output cannot be written', { skip: full }, async () => {
    const command = `"${process.execPath}" "${MAIN}" next "* * * * *" > /dev/full`
    const { status, stderr } = await start('bash', ['-c', command], {})
    assert.equal(status, 1)
    assert.match(stderr, /^error: The output cannot be written: ENOSPC.*\n$/)
  })

  test('colours only where they are wanted', async () => {
    const args = ['next', '0 9 * * *', '--from', '2027-01-01', '-n', '1']
    const [pipe, forced, refused, none] = await Promise.all([
      cronce(args),
      cronce(args, { FORCE_COLOR: '1' }),
      cronce([...args, '--no-color'], { FORCE_COLOR: '1' }),
      cronce(args, { NO_COLOR: '1' }),
    ])
    assert.equal(pipe.stdout, 'Fri 2027-01-01 09:00 UTC  in 9h\n')
    assert.equal(forced.stdout, '\x1b[1mFri 2027-01-01 09:00 UTC\x1b[22m  in 9h\n')
    assert.deepEqual([refused.stdout, none.stdout], [pipe.stdout, pipe.stdout])
  })
})

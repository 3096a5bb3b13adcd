import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call, cronce } from './cronce.ts'

describe('cronce next', () => {
  test('prints one fire a line, in UTC unless a zone is given', async () => {
    const { status, stdout, stderr } = await cronce(['next', '*/15 9-17 * * MON-FRI', '--from', '2026-11-13T17:20Z'])

    assert.equal(status, 0)
    assert.equal(stderr, '')
    assert.equal(
      stdout,
      [
        'Fri 2026-11-13 17:30 UTC  in 10m',
        'Fri 2026-11-13 17:45 UTC  in 25m',
        'Mon 2026-11-16 09:00 UTC  in 2d15h',
        'Mon 2026-11-16 09:15 UTC  in 2d15h',
        'Mon 2026-11-16 09:30 UTC  in 2d16h',
        '',
      ].join('\n'),
    )
  })

  test('with --json prints the instants and nothing else', async () => {
    const { status, stdout, stderr } = await cronce(['next', '0 0 L * *', '-n', '2', '--from', '2028-01-31', '--json'])

    assert.equal(status, 0)
    assert.equal(stderr, '')
    assert.equal(stdout, '{"version":1,"next":["2028-02-29T00:00:00.000Z","2028-03-31T00:00:00.000Z"]}\n')
  })

  test('shows zone, UTC and a fire that the clock moved', async () => {
    const args = ['next', '30 1 * * *', '--tz', 'Europe/London', '--from', '2027-03-27', '-n', '3']
    assert.equal(
      (await cronce(args)).stdout,
      [
        'Sat 2027-03-27 01:30 +00:00  2027-03-27T01:30:00Z  in 1h30m',
        'Sun 2027-03-28 02:00 +01:00  2027-03-28T01:00:00Z  in 1d1h   moved from 01:30: the clock skips it',
        'Mon 2027-03-29 01:30 +01:00  2027-03-29T00:30:00Z  in 2d',
        '',
      ].join('\n'),
    )
  })

  test('marks both passes of a repeated hour', async () => {
    const args = ['next', '*/30 1 * * *', '--tz', 'America/New_York', '--from', '2027-11-06T12:00', '-n', '4']
    const { stdout } = await call(...args)
    assert.deepEqual(
      stdout.split('\n').map((line) => line.slice(0, 27) + (/ {2}(repeat.*)/.exec(line)?.[1] ?? '')),
      [
        'Sun 2027-11-07 01:00 -04:00repeats: 01:00 comes twice',
        'Sun 2027-11-07 01:30 -04:00repeats: 01:30 comes twice',
        'Sun 2027-11-07 01:00 -05:00repeated: 01:00 again, the clock went back',
        'Sun 2027-11-07 01:30 -05:00repeated: 01:30 again, the clock went back',
        '',
      ],
    )
  })

  test('reports on stderr which times a gap removed', async () => {
    const args = ['next', '*/30 2 * * *', '--tz', 'America/New_York', '--from', '2027-03-13T12:00', '-n', '1']
    const { stdout, stderr } = await call(...args)
    assert.match(stdout, /^Mon 2027-03-15 02:00 -04:00 {2}\S+ {2}in 1d13h\n$/)
    assert.equal(
      stderr,
      'note: The clock goes forward at Sun 2027-03-14 03:00 -04:00: 02:00 and 02:30 do not exist and do not fire.\n',
    )
  })

  test('prints @every in the zone of the expression, ignoring --tz', async () => {
    const args = ['next', 'TZ=Europe/London @every 90m', '-n', '1', '--from', '2027-07-01']
    const alone = await call(...args)
    const contradicted = await call(...args, '--tz', 'Asia/Tokyo')
    assert.equal(alone.stdout, 'Thu 2027-07-01 01:00 +01:00  2027-07-01T00:00:00Z  in 1h\n')
    assert.equal(alone.stderr, '')
    assert.equal(contradicted.stdout, alone.stdout)
    assert.match(contradicted.stderr, /names the zone Europe\/London, which wins over --tz Asia\/Tokyo/)
  })

  test('prints the first and the last years in any zone', async () => {
    const first = ['--from', '0001-01-01T00:00Z', '--tz', '-05:00']
    const last = ['--from', '9999-12-31T23:30', '--tz', 'Europe/London']
    const [early, late] = await Promise.all(
      [first, last].map(async (args) => (await call('next', '@every 1h', '-n', '1', ...args)).stdout),
    )
    assert.match(early!, /^Sun 0000-12-31 20:00 -05:00 {2}0001-01-01T01:00:00Z {2}in 1h\n$/)
    assert.match(late!, /^Sat \+010000-01-01 00:00 \+00:00 {2}\S+ {2}in 30m\n$/)
  })

  test('takes every form of --from', async () => {
    const forms: Readonly<Record<string, string>> = {
      '2027-07-01': '2027-07-01T07:00:00.000Z',
      '2027-07-01T09:00': '2027-07-02T07:00:00.000Z',
      '2027-07-01 08:59:59.5': '2027-07-01T07:00:00.000Z',
      '2027-07-01T07:00Z': '2027-07-02T07:00:00.000Z',
      '2027-07-01T06:59:59Z': '2027-07-01T07:00:00.000Z',
      '2027-07-01T12:29+05:30': '2027-07-01T07:00:00.000Z',
      '2027-07-01T12:30+0530': '2027-07-02T07:00:00.000Z',
    }
    const common = ['next', '0 9 * * *', '--tz', 'Europe/Berlin', '-n', '1', '--json', '--from']
    const results = await Promise.all(Object.keys(forms).map((from) => call(...common, from)))
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      Object.values(forms).map((next) => `{"version":1,"next":["${next}"]}\n`),
    )
  })

  test('counts now, now+ and now- from the clock', async () => {
    const next = async (...from: string[]): Promise<string[]> =>
      JSON.parse((await call('next', '* * * * * *', '-n', '1', '--json', ...from)).stdout).next
    assert.deepEqual(await next(), ['2027-01-01T12:00:01.000Z'])
    assert.deepEqual(await next('--from', 'now'), await next())
    assert.deepEqual(await next('--from', 'now+2h'), ['2027-01-01T14:00:01.000Z'])
    assert.deepEqual(await next('--from', 'now-1h30m'), ['2027-01-01T10:30:01.000Z'])
  })

  test('passes the engine its options', async () => {
    const cases: readonly (readonly [next: string, ...args: string[]])[] = [
      [
        '2027-03-28T01:30:00.000Z',
        '30 1 * * *',
        '--tz',
        'Europe/London',
        '--from',
        '2027-03-27T12:00',
        '--gap',
        'shift',
      ],
      [
        '2027-03-29T00:30:00.000Z',
        '30 1 * * *',
        '--tz',
        'Europe/London',
        '--from',
        '2027-03-27T12:00',
        '--dst',
        'wall',
      ],
      [
        '2027-10-31T01:30:00.000Z',
        '30 1 * * *',
        '--tz',
        'Europe/London',
        '--from',
        '2027-10-30T12:00',
        '--overlap',
        'second',
      ],
      ['2027-08-13T00:00:00.000Z', '0 0 13 * FRI', '--from', '2027-01-01T12:00', '--days', 'and'],
      ['2027-01-04T12:00:00.000Z', '0 12 ? * 2 *', '--from', '2027-01-01T12:00', '--dialect', 'eventbridge'],
      ['2027-01-01T22:00:00.000Z', '0 22-2 * * *', '--from', '2027-01-01T12:00', '--wrap'],
      ['2027-01-01T15:41:00.000Z', 'H H * * *', '--from', '2027-01-01', '--seed', 'nightly'],
    ]
    const results = await Promise.all(cases.map(([, ...args]) => call('next', ...args, '-n', '1', '--json')))
    assert.deepEqual(
      results.map(({ stdout, stderr }) => stderr || JSON.parse(stdout).next[0]),
      cases.map(([next]) => next),
    )
  })

  test('ends, and reports that no more fires follow', async () => {
    const ended = await call('next', '0 0 0 1 1 * 2027', '--from', '2026-11-16')
    const never = await call('next', '0 0 30 2 *', '--from', '2026-11-16')
    const event = await call('next', '@reboot', '--from', '2026-11-16', '--json')
    assert.equal(ended.stdout, 'Fri 2027-01-01 00:00 UTC  in 46d\n')
    assert.equal(ended.stderr, 'note: There are no fires after these.\n')
    assert.deepEqual(never, {
      status: 0,
      stdout: '',
      stderr: 'note: This expression never fires. February has no day 30.\n',
    })
    assert.deepEqual(event, { status: 0, stdout: '{"version":1,"next":[]}\n', stderr: '' })
  })

  test('bounds -n', async () => {
    const results = await Promise.all(
      ['0', '1001', '-1', '2.5', 'x', '1000'].map((n) => call('next', '* * * * *', '-n', n, '--from', '2027-01-01')),
    )
    assert.deepEqual(
      results.map(({ status, stdout, stderr }) => [status, stdout.split('\n').length - 1, stderr.split('\n')[0]]),
      [
        [2, 0, 'error: -n cannot be "0".'],
        [2, 0, 'error: -n cannot be "1001".'],
        [2, 0, 'error: -n cannot be "-1".'],
        [2, 0, 'error: -n cannot be "2.5".'],
        [2, 0, 'error: -n cannot be "x".'],
        [0, 1000, ''],
      ],
    )
  })
})

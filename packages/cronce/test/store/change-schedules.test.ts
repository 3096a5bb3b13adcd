import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ScheduleState } from '../../src/model/schedule.ts'
import type { Decision } from '../../src/policy/decision.ts'
import { type Changed, changeSchedules, type ScheduleAccess } from '../../src/store/change-schedules.ts'
import type { ChangeResult } from '../../src/store/store.ts'

const NOW = 1_000
const EXISTS = { kind: 'exists', fire: { nonce: 'key' } } as ChangeResult

type Answer = ChangeResult['kind'] | ChangeResult

interface Bench {
  readonly access: ScheduleAccess
  /** What was asked of the store and of the clock, in order. */
  readonly log: string[]
}

/** A store that holds `there` and answers writes with `answers`, the last one forever. */
function bench(there: readonly string[], answers: readonly Answer[], changes: Partial<ScheduleAccess> = {}): Bench {
  const log: string[] = []
  const left = [...answers]
  let mono = 0
  const access: ScheduleAccess = {
    clock: {
      mono: () => mono,
      async pause(ms) {
        mono += ms
        log.push(`pause ${ms}`)
      },
    },
    random: () => 1,
    async load(ids) {
      log.push(`load ${ids}`)
      const schedules = ids.filter((id) => there.includes(id)).map((id) => ({ id }) as ScheduleState)
      return { now: NOW, epoch: 1, schedules }
    },
    context: ({ now, epoch }) => ({ now, epoch, zoneData: 'test', random: () => 1 }),
    async apply(written) {
      log.push(`write ${written.map(({ id }) => id)}`)
      const results = written.map((): ChangeResult => {
        const answer = left.length > 1 ? left.shift()! : left[0]!
        return typeof answer === 'string' ? ({ kind: answer } as ChangeResult) : answer
      })
      return { now: NOW + 1, results }
    },
    applied: ({ change }) => void log.push(`applied ${change.id}`),
    ...changes,
  }
  return { access, log }
}

function decide(id: string): Decision {
  return { change: { id } as Decision['change'], started: [], events: [] }
}

function kinds(done: ReadonlyMap<string, Changed>): Record<string, string> {
  return Object.fromEntries([...done].map(([id, { kind }]) => [id, kind]))
}

interface Row {
  readonly title: string
  readonly answers: readonly Answer[]
  readonly expected: Readonly<Record<string, string>>
  readonly log: readonly string[]
}

const ROWS: readonly Row[] = [
  {
    title: 'what is applied is done in one read and one write',
    answers: ['applied'],
    expected: { a: 'applied', b: 'applied' },
    log: ['load a,b', 'write a,b', 'applied a', 'applied b'],
  },
  {
    title: 'only what met a conflict is read and decided again',
    answers: ['applied', 'conflict', 'applied'],
    expected: { a: 'applied', b: 'applied' },
    log: ['load a,b', 'write a,b', 'applied a', 'load b', 'write b', 'applied b'],
  },
  {
    title: 'any other refusal is the end of it',
    answers: [EXISTS, 'full'],
    expected: { a: 'refused', b: 'refused' },
    log: ['load a,b', 'write a,b'],
  },
  {
    title: 'the first three tries come at once, then pauses grow',
    answers: ['applied', 'conflict', 'conflict', 'conflict', 'conflict', 'applied'],
    expected: { a: 'applied', b: 'applied' },
    log: [
      ...['load a,b', 'write a,b', 'applied a', 'load b', 'write b', 'load b', 'write b'],
      ...['pause 5', 'load b', 'write b', 'pause 10', 'load b', 'write b', 'applied b'],
    ],
  },
]

describe('a change of schedules', () => {
  for (const { title, answers, expected, log } of ROWS) {
    test(title, async () => {
      const { access, log: actual } = bench(['a', 'b'], answers)
      assert.deepEqual(kinds(await changeSchedules(access, ['a', 'b'], decide)), expected)
      assert.deepEqual(actual, log)
    })
  }

  test('nothing is written where nothing is decided, and the state is returned', async () => {
    const { access, log } = bench(['a'], ['applied'])
    const seen: (string | null)[] = []
    const done = await changeSchedules(access, ['a', 'b'], (_, state) => {
      seen.push(state?.id ?? null)
      return null
    })
    assert.deepEqual(
      [...done.values()],
      [
        { kind: 'unchanged', state: { id: 'a' } },
        { kind: 'unchanged', state: null },
      ],
    )
    assert.deepEqual(seen, ['a', null])
    assert.deepEqual(log, ['load a,b'])
  })

  test('a decision may be made later', async () => {
    const { access } = bench(['a'], ['applied'])
    assert.deepEqual(kinds(await changeSchedules(access, ['a'], async (id) => decide(id))), { a: 'applied' })
  })

  test('it ends with CONTENTION after the most tries, without a last pause, and reports what was done before', async () => {
    const { access, log } = bench(['a', 'b'], ['applied', 'conflict'], { mostTries: 4 })
    const done = new Map<string, Changed>()
    const changing = changeSchedules(access, ['a', 'b'], decide, done)
    await assert.rejects(changing, { code: 'CONTENTION', message: /"b" .* 4 tries/ })
    assert.deepEqual(kinds(done), { a: 'applied' })
    assert.equal(log.filter((one) => one.startsWith('load')).length, 4)
    assert.deepEqual(
      log.filter((one) => one.startsWith('pause')),
      ['pause 5'],
    )
  })

  test('it ends with CONTENTION when its time is up, but never before the first try', async () => {
    const { access, log } = bench(['a'], ['conflict'], { givenUpAt: 15 })
    await assert.rejects(changeSchedules(access, ['a'], decide), { code: 'CONTENTION', message: /4 tries/ })
    // 5 ms and 10 ms: the second pause reaches the end.
    assert.deepEqual(
      log.filter((one) => one.startsWith('pause')),
      ['pause 5', 'pause 10'],
    )
    const late = bench(['a'], ['applied'], { givenUpAt: 0 })
    assert.deepEqual(kinds(await changeSchedules(late.access, ['a'], decide)), { a: 'applied' })
  })

  test('another try may be ruled out, which is asked before each but the first', async () => {
    const asked: string[] = []
    const beforeRetry = async (): Promise<void> => {
      if (asked.push('asked') === 2) throw new Error('ruled out')
    }
    const { access, log } = bench(['a'], ['conflict'], { beforeRetry })
    await assert.rejects(changeSchedules(access, ['a'], decide), { message: 'ruled out' })
    assert.deepEqual(log, ['load a', 'write a', 'load a', 'write a'])
  })

  test('a caller may go on after any answer, also after a step that was applied', async () => {
    const answers: string[] = []
    const isAgain: ScheduleAccess['isAgain'] = (_, { kind }) => answers.push(kind) < 3
    const { access, log } = bench(['a'], [EXISTS, 'applied', 'applied'], { isAgain })
    assert.deepEqual(kinds(await changeSchedules(access, ['a'], decide)), { a: 'applied' })
    assert.deepEqual(answers, ['exists', 'applied', 'applied'])
    assert.equal(log.filter((one) => one === 'applied a').length, 2)
  })

  test('what a try throws is thrown, and nothing is tried again', async () => {
    const apply = async (): Promise<never> => {
      throw new Error('the store failed')
    }
    const { access, log } = bench(['a'], ['applied'], { apply })
    await assert.rejects(changeSchedules(access, ['a'], decide), { message: 'the store failed' })
    assert.deepEqual(log, ['load a'])
  })
})

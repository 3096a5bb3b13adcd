import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access, History, Line } from './history.ts'
import { judge, tally } from './judge.ts'

type Body = Line extends infer One ? (One extends Line ? Omit<One, 'process' | 'at'> : never) : never

function line(at: number, process: string, body: Body): Line {
  return { at, process, ...body } as Line
}

function historyOf(lines: readonly Line[], more: Partial<History> = {}): History {
  return { lines, accesses: [], killedAt: new Map(), stops: [], survivors: [], keys: [], ...more }
}

function section(
  process: string,
  token: string,
  from: number,
  to: number,
  end: 'locked' | 'refused' | null = 'locked',
) {
  const lines = [line(from, process, { what: 'entered', token }), line(to, process, { what: 'left', token })]
  return end === null ? lines : [...lines, line(to, process, { what: end, token })]
}

function access(process: string, what: Access['what'], token: string, value = 0, isAccepted = true): Access {
  return { process, what, token, value, isAccepted }
}

/** A section that did what all do. */
function written(process: string, token: string, value: number): Access[] {
  return [access(process, 'read', token, value - 1), access(process, 'write', token, value)]
}

test('sections one after the other are right; so is one that was overtaken and got an error', () => {
  const accesses = [
    ...written('a', '1', 1),
    ...written('c', '3', 2),
    access('b', 'write', '2', 2, false),
    ...written('a', '4', 3),
  ]
  const lines = [
    ...section('a', '1', 0, 1),
    line(2, 'b', { what: 'entered', token: '2' }),
    ...section('c', '3', 5, 6),
    line(7, 'b', { what: 'refused', token: '2' }),
    ...section('a', '4', 8, 9),
  ]
  assert.deepEqual(judge(historyOf(lines, { accesses })), [])
  assert.deepEqual(tally(historyOf(lines, { accesses })), {
    ...{ kept: 3, overtaken: 1, refused: 1, terms: 0, leaders: 0, keys: 0, unknown: 0 },
  })
})

for (const [what, lines, more, complaint] of [
  [
    'two sections at once',
    [...section('a', '1', 0, 5), ...section('b', '2', 3, 8)],
    { accesses: [...written('a', '1', 1), ...written('b', '2', 2)] },
    /b with token 2 entered 2\.0 ms before a with 1 left/,
  ],
  [
    'one token for two',
    [...section('a', '1', 0, 1, null), ...section('b', '1', 3, 4, null)],
    {},
    /token 1 was had by a and b/,
  ],
  [
    'a section that begins before the one before it was killed',
    [line(0, 'a', { what: 'entered', token: '1' }), ...section('b', '2', 3, 4, null)],
    { killedAt: new Map([['a', 9]]) },
    /b with token 2 entered 6\.0 ms before a with 1 left/,
  ],
  [
    'a lost update',
    [],
    { accesses: [access('a', 'write', '1', 1), access('b', 'write', '2', 1)] },
    /b wrote 1 over 1: an update is lost/,
  ],
  ['a write that was kept and never came', section('a', '1', 0, 1), {}, /a kept 1 and wrote 0 times/],
  [
    'an older token that was accepted',
    [],
    { accesses: [access('b', 'read', '2'), access('a', 'read', '1')] },
    /an access with 1 was accepted after 2/,
  ],
  [
    'a term of two leaders',
    [line(0, 'a', { what: 'elected', term: '1' }), line(1, 'b', { what: 'elected', term: '1' })],
    {},
    /term 1 is of a and of b/,
  ],
  [
    'a leader that says so after its successor was elected',
    [
      line(0, 'a', { what: 'elected', term: '1' }),
      line(5, 'b', { what: 'elected', term: '2' }),
      line(7, 'a', { what: 'leads', term: '1' }),
    ],
    {},
    /a says that it leads in 1, 2\.0 ms after b \(2\) was elected/,
  ],
  [
    'a leader that says so after it has lost',
    [
      line(0, 'a', { what: 'elected', term: '1' }),
      line(3, 'a', { what: 'lost', term: '1' }),
      line(4, 'a', { what: 'leads', term: '1' }),
    ],
    {},
    /a leads after it lost term 1/,
  ],
  [
    'a write by another process than the leader of the term',
    [line(0, 'a', { what: 'elected', term: '1' })],
    { accesses: [access('b', 'term', '1')] },
    /b wrote with term 1 of a/,
  ],
  [
    'terms that were accepted in turn',
    [line(0, 'a', { what: 'elected', term: '1' }), line(1, 'b', { what: 'elected', term: '2' })],
    { accesses: [access('b', 'term', '2'), access('a', 'term', '1')] },
    /term 1 was accepted after 2/,
  ],
  [
    'an effect that happened twice',
    [line(0, 'a', { what: 'effect', key: 'k', value: 'x' }), line(1, 'b', { what: 'effect', key: 'k', value: 'y' })],
    {},
    /k was done twice/,
  ],
  [
    'a result that no process produced',
    [line(0, 'a', { what: 'result', key: 'k', value: 'x' })],
    {},
    /a got x for k, which was not done/,
  ],
  [
    'an unknown key, although no process died or hung',
    [line(0, 'a', { what: 'unknown', key: 'k' })],
    {},
    /a got an unknown result for k$/,
  ],
  [
    'an unknown key, after a live process has done it',
    [
      line(0, 'a', { what: 'effect', key: 'k', value: 'x' }),
      line(1, 'a', { what: 'result', key: 'k', value: 'x' }),
      line(2, 'b', { what: 'unknown', key: 'k' }),
    ],
    { killedAt: new Map([['c', 0]]) },
    /b got an unknown result for k, which a has done/,
  ],
  ['a process without an answer', [], { survivors: ['a'], keys: ['k'] }, /a was told nothing of k/],
] as const) {
  test(`it is noticed: ${what}`, () => {
    const wrong = judge(historyOf(lines, more))
    assert.ok(
      wrong.some((sentence) => complaint.test(sentence)),
      JSON.stringify(wrong),
    )
  })
}

test('a process that was stopped in its section may be overtaken before it is killed', () => {
  const lines = [line(0, 'a', { what: 'entered', token: '1' }), ...section('b', '2', 3, 4, null)]
  const stops = [{ process: 'a', at: 1 }]
  assert.deepEqual(judge(historyOf(lines, { killedAt: new Map([['a', 9]]), stops })), [])
})

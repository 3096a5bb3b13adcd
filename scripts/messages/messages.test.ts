import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'
import { ERROR_CODES } from '../../packages/cronce/src/error-codes.ts'
import { formProblems, wordProblems } from './message-rules.ts'
import { type Kind, type Message, readMessages } from './read-messages.ts'

const { messages, calls, unread, others } = readMessages()

test('the reader finds the messages of every kind and every code', () => {
  const kinds: Readonly<Record<Kind, number>> = { error: 800, 'plain error': 40, warning: 100, note: 70, doctor: 200 }
  for (const [kind, least] of Object.entries(kinds)) {
    const found = messages.filter((message) => message.kind === kind).length
    assert.ok(found >= least, `${found} messages of the kind ${kind}, expected at least ${least}`)
  }
  // These two are RangeErrors, as those of JavaScript: their code is added to them.
  const codes = new Set([...messages.map(({ code }) => code), 'COUNT_OUT_OF_RANGE', 'INSTANT_INVALID'])
  assert.deepEqual(
    Object.keys(ERROR_CODES).filter((code) => !codes.has(code)),
    [],
    'codes without a message',
  )
})

test('few calls pass on a text that the source does not show', () => {
  assert.ok(unread.length < calls / 8, `${unread.length} of ${calls} calls:\n${unread.join('\n')}`)
})

test('every message begins with a capital, ends with a full stop, and has a hint where a fix exists', () => {
  assert.deepEqual(
    unique(messages.flatMap((message) => formProblems(message).map((problem) => about(message, problem)))),
    [],
  )
})

test('no text of the packages uses a word of the old voice, a wrong article or a wrong plural', () => {
  const texts = [
    ...messages.flatMap(({ place, text, hints }) => [text, ...(hints ?? [])].map((each) => ({ place, text: each }))),
    ...others,
  ]
  const problems = texts.flatMap(({ place, text }) =>
    wordProblems(text).map((problem) => about({ place, text }, problem)),
  )
  assert.deepEqual(unique(problems), [])
})

/** A number before a plural noun that is never 1 there. All others are written with `counted`. */
const ALWAYS_SEVERAL = new Set([
  'packages/cli/src/commands/drain.ts instances',
  'packages/cli/src/doctor/check-deployments.ts deployments',
  'packages/cli/src/find-fire.ts fires',
  'packages/cli/src/frequency.ts days',
  'packages/cli/src/import/merge-crontabs.ts jobs',
  'packages/cli/src/import/merge-crontabs.ts servers',
  'packages/cli/src/schedule.ts arguments',
  'packages/cli/src/service/exec/exec-plan.ts characters',
  'packages/cli/src/service/load-jobs.ts jobs',
  'packages/cli/src/steer/find-open.ts fires',
  'packages/cronce/src/client/read-name.ts characters',
  'packages/cronce/src/engine/run/to-json.ts characters',
  'packages/cronce/src/watch/rules/fleet.ts deployments',
  'packages/cronce/src/node-cron/undistributed.ts tasks',
  'packages/cronce/src/signature/secrets.ts secrets',
  'packages/server/src/overview.ts deployments',
])

test('a number is followed by a noun in the right number', () => {
  const found = globSync('packages/{cronce,cli,server}/src/**/*.ts').flatMap((file) => {
    if (file.includes('/testing/')) return []
    const text = readFileSync(file, 'utf8')
    return [...text.matchAll(/\$\{[^}]*(?:\.length|\.size|[cC]ount)\} ([a-z]+s)\b/g)].map(
      ([, noun]) => `${file} ${noun}`,
    )
  })
  assert.deepEqual(
    unique(found).filter((each) => !ALWAYS_SEVERAL.has(each)),
    [],
  )
  assert.deepEqual(
    [...ALWAYS_SEVERAL].filter((each) => !found.includes(each)),
    [],
    'no longer there',
  )
})

test('the help begins with capitals, its lines have no full stop, its paragraphs have one', async () => {
  const problems: string[] = []
  const demand = (isRight: boolean, where: string, text: string): unknown =>
    isRight || problems.push(`${where}: ${text}`)
  for (const { name, summary, load } of COMMANDS) {
    const { flags, examples, about: paragraph = 'None.' } = await load()
    demand(/^\p{Lu}/u.test(summary) && !summary.endsWith('.'), name, summary)
    demand(/^[\p{Lu}\d-]/u.test(paragraph) && /\.$|\/[\w.-]+$/.test(paragraph), name, paragraph)
    for (const [flag, { help }] of Object.entries(flags)) {
      demand(/^[\p{Lu}\d]|^(?:table|remove|put)\b/u.test(help) && !help.endsWith('.'), `${name} --${flag}`, help)
    }
    for (const [command, does] of examples) demand(/^[\p{Ll}\d-]/u.test(does) && !does.endsWith('.'), command, does)
  }
  assert.deepEqual(unique(problems), [])
})

/** Sentences that break each rule: a rule that finds nothing shows nothing. */
test('each rule finds the text that breaks it', () => {
  const sound: Message = {
    kind: 'error',
    place: 'here:1',
    code: 'USAGE',
    level: null,
    text: 'It is wrong.',
    hints: ['Change it.'],
  }
  assert.deepEqual(formProblems(sound), [])
  for (const broken of [
    { text: 'it is wrong.' },
    { text: 'It is wrong' },
    { hints: null },
    { hints: ['change it.'] },
  ]) {
    assert.equal(formProblems({ ...sound, ...broken }).length, 1, JSON.stringify(broken))
  }
  for (const text of [
    'Nobody runs it.',
    'It is no file.',
    'It can not be.',
    'A name is a array.',
    'Write an text.',
    '2 job(s).',
    '1 runs.',
  ]) {
    assert.equal(wordProblems(text).length, 1, text)
  }
  assert.deepEqual(wordProblems('There is no file; it is no longer a user of an hour or a URL.'), [])
})

function about({ place, text }: { readonly place: string; readonly text: string }, problem: string): string {
  return `${place} ${problem}: ${text}`
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}

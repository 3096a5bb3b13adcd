import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronError, type CronOptions, cron } from '../../src/cron.ts'
import { caseScale } from '../case-count.ts'
import { seededRandom } from '../oracle/generate-case.ts'

// Any text is either an expression with quick answers or a CronError.

const { CRONCE_SEED = '20261101' } = process.env
const COUNT = Math.ceil(100_000 * caseScale(0.25))

const TOKENS = [
  ...'0123456789*/,-?+#LWHlwh@ \t().=:',
  ...[
    'JAN',
    'dec',
    'SUN',
    'mon',
    'FRI',
    'L-3',
    'LW',
    '15W',
    '5L',
    '1#2',
    '6#L',
    '*/5',
    '1-5',
    '0 0 ',
    ' * * *',
    '59',
    '31',
    '2025',
  ],
  ...[
    '@daily',
    '@every ',
    '90m',
    '1h',
    '@reboot',
    'CRON_TZ=',
    'UTC',
    'Europe/Berlin',
    'H(',
    'H/',
    '+MON',
    '2199',
    'cron(',
    'rate(',
  ],
]
const DIALECTS = ['default', 'vixie', 'ocps', 'quartz', 'eventbridge', 'kubernetes'] as const
const ZONES = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', '+05:30']

type Random = () => number

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!

const ITEMS = [
  '0',
  '1',
  '5',
  '07',
  '*/2',
  '*/5',
  '1-5',
  '2-4/2',
  '3,4',
  '1/3',
  'H',
  '?',
  'L',
  '4W',
  'MON',
  'jan',
  '5L',
  '1#2',
  '2025',
]

/** Mostly five to seven fields of known items, with a token too many here and there. */
function plausible(random: Random): string {
  const field = () => (random() < 0.6 ? '*' : pick(random, ITEMS)) + (random() < 0.1 ? pick(random, TOKENS) : '')
  return Array.from({ length: 5 + Math.floor(random() ** 2 * 3.2) }, field).join(' ')
}

function soup(random: Random): string {
  return Array.from({ length: Math.floor(random() * 14) }, () => pick(random, TOKENS)).join('')
}

/** Any UTF-16 code units, lone surrogates included. */
function unicode(random: Random): string {
  return Array.from({ length: Math.floor(random() * 12) }, () =>
    String.fromCharCode(Math.floor(random() * (random() < 0.5 ? 0x250 : 0x1_0000))),
  ).join('')
}

/** A valid expression with one character changed, dropped or doubled. */
function mutated(random: Random): string {
  const base = pick(random, [
    '*/5 1-5 L-3W JAN-MAR FRI#L',
    '0 30 2 15W,L * +MON-FRI 2025-2030',
    '@every 1h30m',
    'H(0-29)/10 H 1,15 */2 ?',
  ])
  const at = Math.floor(random() * base.length)
  const insert = random() < 0.3 ? '' : random() < 0.8 ? pick(random, TOKENS) : unicode(random)
  return base.slice(0, at) + insert + base.slice(at + (random() < 0.5 ? 1 : 0))
}

const MAKERS = { plausible, soup, unicode, mutated }

for (const [name, make] of Object.entries(MAKERS)) {
  test(`${COUNT / 4} texts (${name}) parse or throw a CronError, and what parses answers`, () => {
    const random = seededRandom(Number(CRONCE_SEED))
    let parsed = 0
    let refused = 0
    for (let index = 0; index < COUNT / 4; index += 1) {
      const text = make(random)
      const options: CronOptions = {
        seed: 'x',
        tz: pick(random, ZONES),
        dialect: random() < 0.6 ? 'default' : pick(random, DIALECTS),
        wrap: random() < 0.5,
      }
      if (survives(text, options, random)) parsed += 1
      else refused += 1
    }
    assert.equal(parsed + refused, Math.ceil(COUNT / 4))
    // Random unicode is never cron; of the others enough must get past the parser.
    assert.ok(parsed >= (name === 'unicode' ? 0 : COUNT / 4000), `only ${parsed} of ${COUNT / 4} parsed`)
    assert.ok(refused > parsed / 10)
  })
}

/** Whether the text is an expression. Throws if it is neither that nor refused properly. */
function survives(text: string, options: CronOptions, random: Random): boolean {
  const label = `${JSON.stringify(text)} ${JSON.stringify(options)}`
  let subject: ReturnType<typeof cron>
  try {
    subject = cron(text, options)
  } catch (error) {
    if (!(error instanceof CronError)) throw new Error(`${label} threw something else`, { cause: error })
    if (error.position < 0 || error.position > text.length) throw new Error(`${label}: position ${error.position}`)
    return false
  }
  const from = (random() - 0.1) * 7.3e12
  const next = subject.next(from)
  const prev = subject.prev(from)
  if (next !== null && !(next > from && subject.matches(next))) throw new Error(`${label}: next(${from}) is ${next}`)
  if (prev !== null && !(prev < from && subject.matches(prev))) throw new Error(`${label}: prev(${from}) is ${prev}`)
  if (subject.never && (next !== null || prev !== null)) throw new Error(`${label} never fires, and yet it does`)
  return true
}

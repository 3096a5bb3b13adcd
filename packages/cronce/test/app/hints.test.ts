import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alertmanager, pagerDuty, slack, webhook } from '../../src/alerts.ts'
import { cronce } from '../../src/index.ts'
import { resolveCoordinatorOptions } from '../../src/node-cron/coordinator-options.ts'

const SECRET = '5f2c1a7e-0d3b-4c58'
/** URLs as they are pasted: whole, without a scheme, with a slip, with a user, inside of a command. */
const URLS = [
  `https://hc-ping.com/${SECRET}`,
  `hc-ping.com/${SECRET}`,
  `https:/hc-ping.com/${SECRET}`,
  `htps://hc-ping.com/${SECRET}`,
  `https://hc-ping.com?key=${SECRET}`,
  `https://me:${SECRET}@hc-ping.com/`,
  `https://me:${SECRET}/x@hc-ping.com/`,
  `curl -fsS https://hc-ping.com/${SECRET}`,
]

/** An option with a URL in the wrong place or form. */
const MISTAKES: readonly ((url: string) => unknown)[] = [
  (url) => app({ heartbeat: url }),
  (url) => app({ heartbeat: [url] }),
  (url) => app({ heartbeat: { every: url } }),
  (url) => app({ heartbeat: { uri: url } }),
  (url) => app({ heartbeat: { url: [url] } }),
  (url) => app({ alerts: url }),
  (url) => app({ alerts: { channels: url } }),
  (url) => app({ alerts: { channels: [url] } }),
  (url) => app({ alerts: { channels: [{ slack: url }] } }),
  (url) => app({ alerts: { slack: url } }),
  (url) => app({ logger: url }),
  (url) => job({ checkIn: url }),
  (url) => job({ checkIn: [url] }),
  (url) => job({ checkIn: { uri: url } }),
  (url) => job({ checkIn: { url: [url] } }),
  (url) => job({ checkIn: { url, start: url } }),
  (url) => job({ http: url }),
  (url) => job({ http: { url, method: url } }),
  (url) => job({ timeout: url }),
  (url) => job({ every: url }),
  (url) => job({ overlap: url }),
  (url) => slack(url as never),
  (url) => slack({ webhook: url } as never),
  (url) => slack({ url, name: url }),
  (url) => slack({ url: [url] as never }),
  (url) => webhook(url as never),
  (url) => webhook({ url, secret: 'short' }),
  (url) => alertmanager(url as never),
  (url) => alertmanager({ url, headers: url as never }),
  (url) => pagerDuty(url as never),
  (url) => pagerDuty({ routingKey: url }),
]

function app(options: object): unknown {
  return cronce({ store: 'memory:', logger: false, ...options } as never)
}

function job(options: object): unknown {
  const given = 'every' in options || 'http' in options ? options : { every: '5m', ...options }
  return cronce({ store: 'memory:', logger: false }).job(
    'billing',
    given as never,
    'http' in given ? undefined! : () => {},
  )
}

function told(work: () => unknown): { readonly message: string; readonly hint: string } {
  try {
    work()
  } catch (error) {
    return error as { message: string; hint: string }
  }
  throw new Error(`nothing was refused: ${String(work)}`)
}

test('of a URL in the wrong place or form, a message shows scheme and host at most', () => {
  for (const mistake of MISTAKES) {
    for (const url of URLS) {
      const {
        message,
        hint,
        stack = '',
      } = told(() => mistake(url)) as { message: string; hint: string; stack?: string }
      const text = `${message}\n${hint}\n${stack}`
      assert.ok(!text.includes(SECRET) && !text.includes(SECRET.slice(0, 8)), `${String(mistake)}: ${text}`)
    }
  }
  const { message, hint } = told(() => job({ checkIn: URLS[0] }))
  assert.equal(
    message,
    'Job "billing": The option checkIn can\'t be "https://hc-ping.com/…": expected an object with url, or with the methods started and ended.',
  )
  assert.match(hint, /^Write checkIn: \{ url: 'https:\/\/hc-ping\.com\/…' \}/)
})

test('a PagerDuty key, and values that a channel was given under a wrong name, are not shown', () => {
  for (const wrong of [SECRET, { key: SECRET }, { routingKey: `${SECRET} ` }, { routingKey: [SECRET] }]) {
    const { message, hint } = told(() => pagerDuty(wrong as never))
    assert.ok(!`${message}${hint}`.includes(SECRET), message)
    assert.match(message, /pagerDuty/)
  }
  assert.match(told(() => slack({ url: 'T0/B0/XX' })).message, /slack\.url can't be a text that is not a URL: expected/)
  assert.match(told(() => slack({ url: undefined })).hint, /^Check the variable that it comes from\. Write slack\(/)
})

/** Durations, each with the object that holds it. */
const DURATIONS: readonly (readonly [of: (options: object) => unknown, path: string])[] = [
  ...['lease', 'claimAhead', 'drain', 'holdDown', 'retireAfter', 'keepActivity', 'heartbeat', 'heartbeat.every'].map(
    (path) => [app, path] as const,
  ),
  ...['alerts.repeat', 'alerts.gather', 'watch.overdue', 'watch.no-runner', 'watch.silent.maxAge'].map(
    (path) => [app, path] as const,
  ),
  ...['watch.store', 'watch.clock', 'watch.fleet.rollout'].map((path) => [app, path] as const),
  ...['timeout', 'timeout.run', 'timeout.grace', 'jitter', 'jitter.within', 'misfire.grace', 'misfire.window'].map(
    (path) => [job, path] as const,
  ),
  ...['retry.deadline', 'retry.backoff.base', 'retry.backoff.cap', 'retention', 'retention.keep'].map(
    (path) => [job, path] as const,
  ),
  ...['every', 'every.interval'].map((path) => [job, path] as const),
  ...['timeout', 'ahead', 'longest'].map((path) => [coordinator, path] as const),
]

function coordinator(options: object): unknown {
  return resolveCoordinatorOptions(options, true)
}

function nested(path: string, value: unknown): object {
  return path.split('.').reduceRight<object>((inner, name) => ({ [name]: inner }), value as object)
}

test('the duration that a hint proposes is valid', () => {
  for (const [of, path] of DURATIONS) {
    for (const wrong of [-1, 0.5, 1e15, Number.NaN, '', 'soon', '0.1ms', '99999d', '5 fortnights', '2 years', true]) {
      const { message, hint } = told(() => of(nested(path, wrong)))
      const what = `${path}: ${message} ${hint}`
      const proposed = /^(?:Numbers are milliseconds\. |Leave it out, or )?[Ww]rite (.*)\.$/.exec(hint)?.[1]
      assert.ok(proposed !== undefined, what)
      const options = new Function(`return { ${proposed} }`)() as object
      assert.doesNotThrow(() => of(options), what)
    }
  }
})

test('the duration that a hint proposes is the default of the option, or the nearest that is allowed', () => {
  const hintOf = (work: () => unknown): string => told(work).hint
  assert.equal(
    hintOf(() => app({ lease: '1h' })),
    "Write lease: '15s'.",
  )
  assert.equal(
    hintOf(() => app({ lease: '10ms' })),
    "Write lease: '15s'.",
  )
  assert.equal(
    hintOf(() => app({ lease: 30 })),
    "Numbers are milliseconds. Write lease: '30s'.",
  )
  assert.equal(
    hintOf(() => app({ drain: '2d' })),
    "Write drain: '30s'.",
  )
  assert.equal(
    hintOf(() => app({ claimAhead: '1s' })),
    "Write claimAhead: '300ms'.",
  )
  assert.equal(
    hintOf(() => app({ heartbeat: '2d' })),
    "Write heartbeat: '1m'.",
  )
  assert.equal(
    hintOf(() => app({ keepActivity: '1h' })),
    "Write keepActivity: '365d'.",
  )
  assert.equal(
    hintOf(() => app({ watch: { store: '1h' } })),
    "Write watch: { store: '1s' }.",
  )
  assert.equal(
    hintOf(() => app({ watch: { 'no-runner': '90d' } })),
    "Write watch: { 'no-runner': '5m' }.",
  )
  assert.equal(
    hintOf(() => job({ timeout: '400d' })),
    "Write timeout: '365d'.",
  )
  assert.equal(
    hintOf(() => job({ every: '5ms' })),
    "Write every: '10ms'.",
  )
  assert.equal(
    hintOf(() => job({ retry: { backoff: { base: '2d' } } })),
    "Write retry: { backoff: { base: '1s' } }.",
  )
  assert.equal(
    hintOf(() => job({ retry: { backoff: { factor: 1000 } } })),
    'Write retry: { backoff: { factor: 100 } }.',
  )
  assert.equal(
    hintOf(() => job({ retry: { backoff: { jitter: '0.5' } } })),
    'Write retry: { backoff: { jitter: 0.5 } }.',
  )
})

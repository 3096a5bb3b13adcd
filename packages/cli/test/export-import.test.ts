import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { shellQuote, shellWords } from '../src/export/shell-words.ts'
import { importCrontab } from '../src/import/crontab-jobs.ts'
import { type Imported, jobsOf } from '../src/import/imported.ts'
import { importK8s } from '../src/import/k8s-jobs.ts'
import { exported, type Jobs } from './export-jobs.ts'

const FIXTURE = fileURLToPath(new URL('./fixtures/crontab.txt', import.meta.url))

/** The jobs of an import, as their file would have them. */
function recordOf(imported: Imported): Jobs {
  return Object.fromEntries(jobsOf(imported).map(({ name, options }) => [name, options]))
}

const NOW = Date.parse('2027-01-01T00:00:00Z')
const PLAIN = { file: 'x', isSystem: false, tz: 'UTC', cwd: null, user: 'root', likeCron: false }
const BACK = {
  k8s: (text: string) => recordOf(importK8s([{ file: 'x', text }], NOW)),
  crontab: (text: string) => recordOf(importCrontab(text, PLAIN)),
}

/** One CronJob for each combination of what Kubernetes decides about overlap and lateness. */
const CRON_JOBS = ['Allow', 'Forbid', 'Replace']
  .flatMap((policy) =>
    [undefined, 10, 300, 86_400, 604_800].map((deadline) => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: `${policy}-${deadline ?? 'none'}`.toLowerCase() },
      spec: {
        schedule: '30 1 * * 0',
        timeZone: 'Europe/London',
        concurrencyPolicy: policy,
        startingDeadlineSeconds: deadline,
        jobTemplate: { spec: { template: { spec: { containers: [{ name: 'a', command: ['a'] }] } } } },
      },
    })),
  )
  .map((manifest) => JSON.stringify(manifest))
  .join('\n---\n')

/** What both formats can express of a job: without the delays of retries, and with the window that cronce exec has. */
function meaning(options: object): object {
  const { retry, misfire, ...rest } = options as { retry?: number | { attempts: number }; misfire?: unknown }
  const isLong = typeof misfire === 'object' && /^([2-9]|\d\d+)d$/.test((misfire as { window?: string }).window ?? '')
  return { ...rest, retry: typeof retry === 'object' ? retry.attempts : retry, misfire: isLong ? undefined : misfire }
}

describe('what was exported can be imported', () => {
  const jobs: Jobs = {
    plain: { cron: '0 3 * * *', command: ['a', 'b c'] },
    'with a: name': { cron: '*/5 1-3 * * MON-FRI', tz: 'Europe/London', command: 'a | b > /c', shell: '/bin/bash' },
    '-dashed': { cron: '0 3 * * *', command: ['printf', '\\%s\\\\%d', '%%', '\\'] },
    placed: { cron: '@daily', command: ['a'], cwd: '/s r v', env: { A: "it's", B: '100%' } },
    policies: { cron: '0 4 * * *', command: ['a'], guarantee: 'at-most-once', overlap: 'allow', timeout: '90s' },
    queued: { cron: '0 4 * * *', command: ['a'], overlap: 'queue', timeout: { run: '2h', grace: '1m' } },
    retried: { cron: '0 5 1 * *', command: ['a'], retry: 3 },
  }
  const onlyCron: Jobs = { both: { cron: '0 0 */2 * 1', dialect: 'vixie', command: ['a'] } }

  for (const form of ['k8s', 'crontab'] as const) {
    test(`and is the same jobs: ${form}`, async (context) => {
      const given = form === 'k8s' ? jobs : { ...jobs, ...onlyCron }
      const { status, text } = await exported(context, form, given)
      assert.equal(status, 0)
      assert.deepEqual(BACK[form](text), given)
    })
  }

  test('with what only Kubernetes has', async (context) => {
    const more: Jobs = {
      replaced: { cron: '0 4 * * *', command: ['a'], overlap: 'replace', misfire: 'skip' },
      windowed: {
        cron: '0 4 * * *',
        command: ['a'],
        misfire: { late: 'latest', window: '5m' },
        retention: { count: 4 },
      },
      crashing: { cron: '0 4 * * *', command: ['a'], retry: { attempts: 2, crashes: 5 } },
    }
    const { text } = await exported(context, 'k8s', more)
    assert.deepEqual(BACK.k8s(text), more)
  })

  test('a CronJob of Kubernetes survives import, export and import', async (context) => {
    const first = BACK.k8s(CRON_JOBS)
    const { status, text, told } = await exported(context, 'k8s', first)
    assert.equal(status, 0)
    const second = BACK.k8s(text)
    // Neither cronce exec nor Kubernetes has these; the export reports it.
    assert.deepEqual([...new Set(told.map((line) => line.replace(/^[^:]*: /, '')))].toSorted(), [
      'changed a change of the clock',
      'changed misfire.window',
      'changed retry.backoff',
    ])
    assert.deepEqual(
      Object.entries(second).map(([name, options]) => [name, meaning(options)]),
      Object.entries(first).map(([name, options]) => [name, meaning(options)]),
    )
    assert.deepEqual(BACK.k8s((await exported(context, 'k8s', second)).text), second)
  })

  for (const form of ['k8s', 'crontab'] as const) {
    test(`and after the first time nothing changes any more: ${form}`, async (context) => {
      const source = recordOf(importCrontab(readFileSync(FIXTURE, 'utf8'), PLAIN))
      const first = BACK[form]((await exported(context, form, source)).text)
      const second = BACK[form]((await exported(context, form, first)).text)
      assert.ok(Object.keys(first).length >= 20)
      assert.deepEqual(second, first)
    })
  }
})

test('a shell reads back every word that is quoted for it, and so do we', () => {
  const words = ['a', '', "it's", 'a b', '$HOME `x` "y" \\', '*', '~', '#x', 'a\tb', '100%', '-n', 'é 日本', "''", '!x']
  const line = words.map(shellQuote).join(' ')
  assert.deepEqual(shellWords(line), words)
  const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
  assert.deepEqual(printed.split('\0').slice(0, -1), words)
  for (const text of ['a | b', 'a; b', '$x', 'a > b', '`a`', '"$x"', "'a", 'a &', '(a)', 'a*'])
    assert.equal(shellWords(text), null, text)
})

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { importCrontab } from '../src/import/crontab-jobs.ts'
import { jobsOf } from '../src/import/imported.ts'
import { importK8s } from '../src/import/k8s-jobs.ts'
import { MAIN, start } from './cronce.ts'
import { exported, folder } from './export-jobs.ts'

/** Node.js or cronce itself would read all of these. */
const ENV = {
  PATH: '/usr/bin:/bin',
  NODE_OPTIONS: '--no-such-option',
  CRONCE_STORE: 'sqlite:/nowhere/else.db',
  CRONCE_NAMESPACE: 'elsewhere',
  TZ: 'Asia/Tokyo',
  PGHOST: 'db',
  TITLE: "it's 100%",
} as const
const NAMES = Object.keys(ENV)

const PLAIN = { file: 'x', isSystem: false, tz: 'UTC', cwd: null, user: 'root', likeCron: false }

describe('the environment of an exported job is its command’s, not that of cronce', () => {
  test('crontab: a line runs, claims in the store of the crontab, and gives the command its own', async (context) => {
    const { root, path, jobs } = bench(context)
    const { text } = await exported(context, 'crontab', jobs)
    const line = text.split('\n').find((found) => found.startsWith('* * * * * '))!
    // Of a minute that has come: the nearest one may be half of one ahead.
    const due = `--due ${new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString()} --`
    const command = line
      .slice('* * * * * '.length)
      .replaceAll('\\%', '%')
      .replace(/--due auto .*? --(?= )/, due)
    const env = { PATH: path, CRONCE_STORE: `sqlite:${join(root, 'cronce.db')}` }
    const { status, stderr } = await start('/bin/sh', ['-c', command], env)
    assert.equal(status, 0, stderr)
    assert.deepEqual(given(root), ENV)
    assert.deepEqual(
      jobsOf(importCrontab(text, PLAIN)).map(({ options }) => options.env),
      [ENV],
    )
  })

  test('k8s: a container runs, claims in the store of the secret, and gives the command its own', async (context) => {
    const { root, path, jobs } = bench(context)
    const { text } = await exported(context, 'k8s', jobs, '--image', 'shop/jobs:1')
    const { metadata, spec } = parseAllDocuments(text)[0]!.toJS()
    const [container] = spec.jobTemplate.spec.template.spec.containers
    const set: { name: string; value?: string }[] = container.env
    const env = {
      PATH: path,
      ...Object.fromEntries(set.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
      ...{ CRONCE_STORE: `sqlite:${join(root, 'cronce.db')}` },
      CRONCE_K8S_JOB: `${metadata.name}-${Math.floor(Date.now() / 60_000)}`,
    }
    assert.equal(set.filter(({ name }) => name === 'CRONCE_STORE').length, 1)
    const { status, stderr } = await start('/usr/bin/env', container.command, env)
    assert.equal(status, 0, stderr)
    assert.deepEqual(given(root), ENV)
    assert.deepEqual(
      jobsOf(importK8s([{ file: 'x', text }], Date.now())).map(({ options }) => options.env),
      [ENV],
    )
  })
})

/** A machine with a cronce in its PATH, and a job that writes down what it is given. */
function bench(context: Parameters<typeof folder>[0]) {
  const root = folder(context)
  const bin = join(root, 'bin')
  mkdirSync(bin)
  symlinkSync(MAIN, join(bin, 'cronce'))
  const show = `printf '%s\\0' ${NAMES.map((name) => `"$${name}"`).join(' ')} > ${root}/out; env > ${root}/all`
  const jobs = { tell: { cron: '* * * * *', command: ['sh', '-c', show], cwd: root, env: ENV } }
  return { root, path: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(':'), jobs }
}

function given(root: string): object {
  const values = readFileSync(join(root, 'out'), 'utf8').split('\0').slice(0, -1)
  assert.doesNotMatch(readFileSync(join(root, 'all'), 'utf8'), /^CRONCE_ENV_/m, 'it is written once')
  return Object.fromEntries(NAMES.map((name, index) => [name, values[index]]))
}

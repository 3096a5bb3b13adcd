import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask } from './cronce.ts'
import { running, scratch } from './fixtures/service/running.ts'

type Files = Readonly<Record<string, string>>

function project(context: Parameters<typeof scratch>[0], files: Files): string {
  const folder = scratch(context)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('the files that init writes run unchanged', async (context) => {
  for (const [files, written] of [
    [{}, ['cronce.config.ts', 'jobs.ts']],
    [{ 'package.json': '{ "type": "commonjs" }' }, ['cronce.config.mjs', 'jobs.mjs']],
  ] as const) {
    const cwd = project(context, files)
    const { status, stdout, stderr } = await ask(['init'], {}, { cwd })
    assert.deepEqual([status, stdout], [0, written.map((name) => `wrote    ${name}\n`).join('')])
    assert.match(stderr, /npm install cronce @cronce\/cli\n {2}npx cronce dev/)
    const service = running(['start'], { cwd })
    context.after(() => service.end('SIGKILL'))
    await service.until(/hello is new\.[\s\S]*runs the jobs/)
    assert.equal(await service.end(), 0)
    assert.doesNotMatch(service.stderr(), /Warning|warning/)
  }
})

test('it is guessed from the project: language, kind of module, store, framework', async (context) => {
  const cases: readonly [files: Files, env: Files, names: string[], store: string, next: RegExp][] = [
    [
      { 'package.json': '{ "type": "module", "dependencies": { "express": "5", "pg": "8", "ioredis": "5" } }' },
      {},
      ['cronce.config.js', 'jobs.js'],
      'env:DATABASE_URL',
      /npm install cronce @cronce\/cli\n.*Set DATABASE_URL.*\n.*npx cronce migrate up[\s\S]*In Express itself/,
    ],
    [
      { 'package.json': '{ "devDependencies": { "typescript": "6" }, "dependencies": { "redis": "5" } }' },
      {},
      ['cronce.config.mts', 'jobs.mts'],
      'env:REDIS_URL',
      /Set REDIS_URL/,
    ],
    [
      { 'package.json': '{ "type": "module" }', 'tsconfig.json': '{}' },
      { DATABASE_URL: 'postgres://me:hush-hush@db/app' },
      ['cronce.config.ts', 'jobs.ts'],
      'env:DATABASE_URL',
      /npm install cronce @cronce\/cli pg\n/,
    ],
    [
      { 'package.json': 'not json' },
      { REDIS_URL: 'redis://db' },
      ['cronce.config.ts', 'jobs.ts'],
      'env:REDIS_URL',
      /ioredis/,
    ],
  ]
  for (const [files, env, names, store, next] of cases) {
    const cwd = project(context, files)
    const dry = await ask(['init', '--dry-run'], env, { cwd })
    assert.deepEqual([dry.status, readdirSync(cwd).toSorted()], [0, Object.keys(files).toSorted()])
    const { stdout, stderr, status } = await ask(['init', '--json'], env, { cwd })
    const told = JSON.parse(stdout)
    assert.equal(status, 0, stderr)
    assert.deepEqual(
      [told.version, told.store, told.files.map(({ name }: { name: string }) => name)],
      [1, store, names],
    )
    assert.match(told.next.join('\n'), next)
    const config = readFileSync(join(cwd, names[0]!), 'utf8')
    assert.ok(config.includes(`store: '${store}'`) && config.includes(`jobs: './${names[1]}'`))
    assert.ok(dry.stdout.includes(config), 'a dry run shows what would be written')
    assert.doesNotMatch(config + stdout + dry.stdout, /hush/)
  }
})

test('existing files are kept, unless --force is given', async (context) => {
  const cwd = project(context, { 'cronce.config.json': '{}', 'jobs.ts': '// mine\n' })
  const kept = await ask(['init'], {}, { cwd })
  assert.match(kept.stdout, /^kept {5}cronce\.config\.json\nkept {5}jobs\.ts {2}\(--force overwrites it\)\n$/)
  assert.equal(readFileSync(join(cwd, 'jobs.ts'), 'utf8'), '// mine\n')
  const forced = await ask(['init', '--force'], {}, { cwd })
  assert.match(forced.stdout, /^kept {5}cronce\.config\.json\nreplaced jobs\.ts\n$/)
  assert.match(readFileSync(join(cwd, 'jobs.ts'), 'utf8'), /app\.job\('hello'/)
  assert.deepEqual(readdirSync(cwd).toSorted(), ['cronce.config.json', 'jobs.ts'])
})

test('it asks at a terminal only, and takes no secret into a file', async (context) => {
  const cwd = project(context, {})
  const asked = await ask(['init', '--dry-run'], {}, { cwd, columns: 80, answers: ['sqlite:other.db'] })
  assert.match(asked.stderr, /^Store \[sqlite:cronce\.db, since no server is set up: fine for one machine\]: /)
  assert.match(asked.stdout, /store: 'sqlite:other\.db'/)
  const silent = await ask(['init', '--dry-run', '--no-input'], {}, { cwd, columns: 80, answers: ['sqlite:other.db'] })
  assert.match(silent.stdout, /store: 'sqlite:cronce\.db'/)
  for (const args of [
    ['--store', 'postgres://me:hush-hush@db/app'],
    ['--store', 'mysql'],
    ['--typescript', '--javascript'],
    ['here'],
  ]) {
    const { status, stderr } = await ask(['init', ...args], {}, { cwd })
    assert.equal(status, 2, args.join(' '))
    assert.doesNotMatch(stderr, /hush/)
  }
  assert.deepEqual(readdirSync(cwd), [])
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const { resolve } = createRequire(import.meta.url)
const PM2 = resolve('pm2/bin/pm2')
const ESBUILD = resolve('esbuild/bin/esbuild')
const LIBRARY = join(import.meta.dirname, '../../src/index.ts')
const LIMIT_MS = 60_000

/** A program that leaves its name to the library, and writes the name that the fleet knows it by into a file. */
const START = `
async function main() {
  const app = cronce({ store: 'memory:' }).job('idle', {}, () => {})
  await app.start()
  const [instance] = await app.instances.list()
  writeFileSync(process.env.NAME_FILE, instance.app)
  await app.stop()
  process.exit()
}
`
const MODULE = `import { writeFileSync } from 'node:fs'\nimport { cronce } from '${LIBRARY}'\n${START}\nawait main()\n`
const COMMON = `const { writeFileSync } = require('node:fs')\nconst { cronce } = require('${LIBRARY}')\n${START}\nmain()\n`
/** Reports how the run of a command ended: in a bundle the program that supervises it is missing. */
const COMMAND = `
import { writeFileSync } from 'node:fs'
import { cronce } from '${LIBRARY}'
async function main() {
  const app = cronce({ store: 'memory:', logger: false }).job('command', { command: ['true'] })
  const ended = new Promise((resolve) => app.on('run.ended', resolve))
  await app.start()
  await app.schedules.trigger('command')
  const { error } = await ended
  writeFileSync(process.env.NAME_FILE, error?.code ?? 'succeeded')
  await app.stop()
}
void main()
`
const CLUSTER = `import cluster from 'node:cluster'\nif (cluster.isPrimary) cluster.fork()\nelse await import('./server.mjs')\n`

let folder: string
before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'cronce-names-')))
  await write('shop/package.json', '{ "name": "@acme/shop" }')
  await write('shop/server.mjs', MODULE)
  await write('shop/server.cjs', COMMON)
  await write('shop/cluster.mjs', CLUSTER)
  await write('mono/package.json', '{ "name": "mono", "workspaces": ["packages/*"] }')
  await write('mono/packages/worker/package.json', '{ "name": "@mono/worker" }')
  await write('mono/packages/worker/server.mjs', MODULE)
  await write('elsewhere/note.txt', '')
})
after(() => rm(folder, { recursive: true, force: true }))

describe('the default name of an app', { concurrency: 2, timeout: 4 * LIMIT_MS }, () => {
  test('is that of its package, wherever it is started from', async () => {
    assert.equal(await nameUnderNode('shop/server.mjs', 'elsewhere'), '@acme/shop')
    assert.equal(await nameUnderNode('shop/server.cjs', 'mono'), '@acme/shop')
  })

  test('is that of its package in a worker of node:cluster', async () => {
    assert.equal(await nameUnderNode('shop/cluster.mjs', 'elsewhere'), '@acme/shop')
  })

  test('is that of the workspace package that is started from the root of a monorepo', async () => {
    assert.equal(await nameUnderNode('mono/packages/worker/server.mjs', 'mono'), '@mono/worker')
  })

  test('is that of the package around a bundle; a bundle that was copied alone takes that of its working directory', async () => {
    await write('shop/dist/package.json', '{ "type": "module" }')
    for (const file of ['server.mjs', 'server.cjs']) {
      const bundle = await bundleOf(`shop/${file}`, `shop/dist/${file}`)
      assert.equal(await nameUnderNode(`shop/dist/${file}`, 'elsewhere'), '@acme/shop', file)
      const alone = join('alone', file)
      await mkdir(join(folder, 'alone'), { recursive: true })
      await copyFile(bundle, join(folder, alone))
      assert.equal(await nameUnderNode(alone, 'elsewhere'), 'default', file)
      assert.equal(await nameUnderNode(alone, 'shop'), '@acme/shop', file)
    }
  })

  test('is that of its package under PM2, in fork mode and in cluster mode', async () => {
    const home = join(folder, 'pm2')
    await mkdir(home)
    try {
      for (const file of ['shop/server.mjs', 'shop/server.cjs']) {
        assert.equal(await nameUnderPm2(home, file, []), '@acme/shop', `${file} in fork mode`)
        assert.equal(await nameUnderPm2(home, file, ['-i', '1']), '@acme/shop', `${file} in cluster mode`)
      }
    } finally {
      await endDaemon(home)
    }
  })
})

test('a run of a command fails with PROGRAM_MISSING in a bundle, which does not contain the supervisor of commands', {
  timeout: 4 * LIMIT_MS,
}, async () => {
  await write('shop/command.mjs', COMMAND)
  assert.equal(await nameUnderNode('shop/command.mjs', 'elsewhere'), 'succeeded')
  for (const file of ['command.mjs', 'command.cjs']) {
    await bundleOf('shop/command.mjs', `shop/dist/${file}`)
    assert.equal(await nameUnderNode(`shop/dist/${file}`, 'elsewhere'), 'PROGRAM_MISSING', file)
  }
})

async function write(path: string, text: string): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

async function bundleOf(source: string, path: string): Promise<string> {
  const bundle = join(folder, path)
  const format = path.endsWith('.cjs') ? 'cjs' : 'esm'
  const flags = ['--bundle', '--platform=node', `--format=${format}`, '--log-level=error', `--outfile=${bundle}`]
  await run(ESBUILD, [join(folder, source), ...flags])
  return bundle
}

let programs = 0
function nextNameFile(): string {
  programs++
  return join(folder, `name-${programs}`)
}

async function nameUnderNode(file: string, from: string): Promise<string> {
  const nameFile = nextNameFile()
  const env = { ...process.env, NAME_FILE: nameFile }
  await run(process.execPath, [join(folder, file)], { cwd: join(folder, from), env, timeout: LIMIT_MS })
  return readFile(nameFile, 'utf8')
}

async function nameUnderPm2(home: string, file: string, flags: readonly string[]): Promise<string> {
  const nameFile = nextNameFile()
  const env = { ...process.env, PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true', NAME_FILE: nameFile }
  const args = [PM2, 'start', join(folder, file), '--name', `app-${programs}`, '--no-autorestart', ...flags]
  await run(process.execPath, args, { cwd: join(folder, 'elsewhere'), env, timeout: LIMIT_MS })
  return until('the program has written its name', async () => {
    const name = await readFile(nameFile, 'utf8').catch(() => '')
    return name === '' ? undefined : name
  })
}

/** By its id, since the machine may run other daemons of PM2. */
async function endDaemon(home: string): Promise<void> {
  const pid = Number(await readFile(join(home, 'pm2.pid'), 'utf8'))
  process.kill(pid, 'SIGTERM')
  await until('the daemon has ended', async () => (isAlive(pid) ? undefined : true))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function until<Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> {
  const deadline = Date.now() + LIMIT_MS
  while (Date.now() < deadline) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(50)
  }
  throw new Error(`Not within ${LIMIT_MS} ms: ${what}.`)
}

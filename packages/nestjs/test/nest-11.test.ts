import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { proveRecipe } from '../../../scripts/recipes/replicas.ts'
import { judgeJobs } from './judge-jobs.ts'
import { judgeWeb } from './judge-web.ts'
import { BY_SIGTERM, compileExample, onFastify, ROOT, writeProgram } from './kit.ts'

/** Two versions of Nest can't be in one tree, since its packages import each other by name. */
const PACKAGES = [
  '@nestjs/common@11.2.10',
  '@nestjs/core@11.2.10',
  '@nestjs/platform-express@11.2.10',
  '@nestjs/platform-fastify@11.2.8',
  '@nestjs/terminus@12.1.0',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.2',
]

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-nest-11-')))
after(() => rmSync(folder, { recursive: true, force: true }))
writeFileSync(join(folder, 'package.json'), '{ "name": "nest-11", "type": "module", "private": true }')
execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES], {
  cwd: folder,
})
const modules = join(folder, 'node_modules')
// A copy: from a link, Node.js would resolve the Nest of this checkout.
const own = join(modules, '@cronce', 'nestjs')
mkdirSync(own, { recursive: true })
for (const name of ['package.json', 'dist'])
  cpSync(join(ROOT, 'packages/nestjs', name), join(own, name), { recursive: true })
for (const name of ['cronce', '@cronce/server', '@cronce/dashboard'])
  symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))

test('the folder has Nest 11', () => {
  const { version } = JSON.parse(readFileSync(join(modules, '@nestjs/core/package.json'), 'utf8')) as {
    version: string
  }
  assert.match(version, /^11\./)
})

judgeJobs(folder)
judgeWeb(folder)

for (const [platform, adapt] of [
  ['Express', (program: string) => program],
  ['Fastify', onFastify],
] as const) {
  test(`the recipe for Nest, on Nest 11 and ${platform}`, async (context) => {
    const program = writeProgram(folder, `${platform}.js`, adapt(compileExample()))
    await proveRecipe(context, { command: [process.execPath, program], end: BY_SIGTERM })
  })
}

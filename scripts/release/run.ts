/**
 * One version for all packages:
 *
 *     npm run release -- 0.2.0       # writes the version everywhere, dates CHANGELOG.md, and says what to do next
 *     npm run release -- --check     # packs everything, and compares versions with the tag of this commit
 *     npm run release -- --publish   # the same, then publishes with provenance; for the release workflow
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { dateChanges, findMismatches, isVersion, type Manifest, publishOrder, withVersion } from './plan.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDERS = readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name))
const CHANGES = join(ROOT, 'CHANGELOG.md')
const VERSION_FILE = join(ROOT, 'packages/cronce/src/version.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false }, publish: { type: 'boolean', default: false } },
})
const packages = FOLDERS.map((folder) => ({ folder, manifest: readManifest(folder) }))
const manifests = packages.map(({ manifest }) => manifest)

const [version] = positionals
if (values.check || values.publish) publish(values.publish)
else if (version !== undefined && isVersion(version)) prepare(version)
else fail('Name the version, such as 0.2.0, or --check or --publish.')

function prepare(wanted: string): void {
  if (git('status', '--porcelain') !== '') fail('There are uncommitted changes. Commit or stash them first.')
  const changes = dateChanges(readFileSync(CHANGES, 'utf8'), wanted, new Date().toISOString().slice(0, 10))
  if (changes === null) fail('CHANGELOG.md has no heading "## VERSION, unreleased". Write down what changed.')
  const ours = new Set(manifests.map(({ name }) => name))
  for (const { folder, manifest } of packages) {
    const text = JSON.stringify(withVersion(manifest, wanted, ours), null, 2)
    writeFileSync(join(folder, 'package.json'), `${text}\n`)
  }
  writeFileSync(CHANGES, changes)
  writeFileSync(VERSION_FILE, readFileSync(VERSION_FILE, 'utf8').replace(/'[^']+'/, `'${wanted}'`))
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: ROOT, stdio: 'inherit' })
  console.log(`All packages are ${wanted}. Next: npm test, then`)
  console.log(
    '  npm run bench:all && npm run verify:long   # if npm run figures marks what docs/reports has as outdated',
  )
  console.log(`  git commit -am 'release: ${wanted}' && git tag v${wanted} && git push --follow-tags`)
}

function publish(isReal: boolean): void {
  const [{ version: current }] = manifests as [Manifest]
  const wrong = findMismatches(manifests, current)
  if (wrong.length > 0) fail(`Versions differ: ${wrong.join('; ')}.`)
  const tags = git('tag', '--points-at', 'HEAD').split('\n')
  if (isReal && !tags.includes(`v${current}`)) fail(`This commit has no tag v${current}.`)
  for (const name of publishOrder(manifests)) {
    const options = isReal ? ['--provenance', '--access', 'public'] : ['--dry-run']
    execFileSync('npm', ['publish', '--workspace', name, ...options], { cwd: ROOT, stdio: 'inherit' })
  }
  console.log(isReal ? `Published ${current}.` : `${current} can be published.`)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

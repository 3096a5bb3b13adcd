/**
 * The shape in which users get the packages: pack each one, install it into an empty folder without peers, import and
 * require every subpath, compile against its types, run its commands and the README's example.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { blocksOf, expectedOf, judge } from './docs/read-docs.ts'
import { runProgram } from './docs/run-program.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: Record<string, string>
  readonly exports: Record<string, unknown>
  readonly dependencies?: Record<string, string>
}

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = readdirSync(join(ROOT, 'packages')).sort()
const ALONE = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', '']
const STRICT = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', 'node']
const scratch = mkdtempSync(join(tmpdir(), 'cronce-packages-'))

try {
  const manifests = FOLDERS.map(readManifest)
  checkVersions(manifests)
  const tarballs = new Map(manifests.map((manifest, index) => [manifest.name, pack(FOLDERS[index]!)]))

  checkAlone(tarballs.get('cronce')!)
  const home = install('all', [...tarballs.values()])
  for (const manifest of manifests) checkImports(home, manifest)
  checkTypes(home, manifests)
  checkCronTypes(home)
  for (const manifest of manifests) checkCommands(home, manifest)
  await checkReadme(home)
  await checkQuickStart(home)
  for (const folder of FOLDERS) await lintPackage(folder)
  console.log(`${manifests.map(({ name, version }) => `${name} ${version}`).join(', ')}: shape is right`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest
}

/** One version for all, so that two numbers never have to be matched. */
function checkVersions(manifests: readonly Manifest[]): void {
  const versions = new Map(manifests.map(({ name, version }) => [name, version]))
  const wanted = versions.get('cronce')!
  for (const { name, version, dependencies = {} } of manifests) {
    demand(version === wanted, `${name} is ${version}, cronce is ${wanted}`)
    for (const [sibling, range] of Object.entries(dependencies)) {
      if (versions.has(sibling))
        demand(range === wanted, `${name} depends on ${sibling} ${range}, not exactly ${wanted}`)
    }
  }
}

function pack(folder: string): string {
  const source = join(ROOT, 'packages', folder)
  const [packed] = JSON.parse(npm(source, 'pack', '--json', '--pack-destination', scratch)) as {
    filename: string
    files: { path: string }[]
  }[]
  const paths = new Set(packed!.files.map(({ path }) => path))
  for (const path of ['package.json', 'README.md', 'LICENSE'])
    demand(paths.has(path), `${folder} would publish no ${path}`)
  // Left behind by a source that is gone, or not built yet.
  const orphans = [...paths].filter((path) => path.startsWith('dist/') && !paths.has(sourceOf(path)))
  demand(orphans.length === 0, `${folder}: ${orphans.join(', ')} has no source: remove dist and build`)
  const unbuilt = [...paths].filter((path) => path.startsWith('src/') && !paths.has(builtFrom(path)))
  demand(unbuilt.length === 0, `${folder}: ${unbuilt.join(', ')} is not built`)
  const others = [...paths].filter((path) => !/^(bin|dist|src)\/|^(package\.json|README\.md|LICENSE)$/.test(path))
  demand(others.length === 0, `${folder} would publish ${others.join(', ')}`)
  return join(scratch, packed!.filename)
}

function sourceOf(built: string): string {
  return built.replace('dist/', 'src/').replace(/\.(js|d\.ts)(\.map)?$/, '.ts')
}

function builtFrom(source: string): string {
  return source.replace('src/', 'dist/').replace(/\.ts$/, '.js')
}

function install(name: string, tarballs: readonly string[]): string {
  const home = join(scratch, name)
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }')
  npm(home, 'install', '--prefer-offline', '--omit=peer', '--omit=optional', ...tarballs)
  return home
}

/** The library brings nothing with it. */
function checkAlone(tarball: string): void {
  const home = install('alone', [tarball])
  const installed = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'))
  demand(installed.join() === 'cronce', `cronce installs ${installed.join(', ')}`)
}

function subpathsOf({ name, exports }: Manifest): string[] {
  return Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1))
}

function checkImports(home: string, manifest: Manifest): void {
  for (const path of subpathsOf(manifest)) {
    const names = run(
      home,
      'node',
      '--input-type=module',
      '-e',
      `console.log(Object.keys(await import('${path}')).length)`,
    )
    demand(Number(names) > 0, `${path} exports nothing`)
    // Applications that are CommonJS still: Node 22.12 and later can require ES modules.
    const required = run(
      home,
      'node',
      '--input-type=commonjs',
      '-e',
      `console.log(Object.keys(require('${path}')).length)`,
    )
    demand(Number(required) > 0, `require('${path}') gives nothing`)
  }
}

/**
 * Types resolve under both ways of module resolution that people use, without skipping our own declarations. Who writes
 * TypeScript for Node has its types.
 */
function checkTypes(home: string, manifests: readonly Manifest[]): void {
  mkdirSync(join(home, 'node_modules', '@types'), { recursive: true })
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name))
  const paths = manifests.flatMap(subpathsOf)
  const code = paths.map(
    (path, index) => `import * as m${index} from '${path}'\nexport const keys${index} = Object.keys(m${index})`,
  )
  writeFileSync(join(home, 'consumer.ts'), code.join('\n'))
  run(home, 'tsc', ...STRICT, '--module', 'nodenext', 'consumer.ts')
  run(home, 'tsc', ...STRICT, '--module', 'esnext', '--moduleResolution', 'bundler', 'consumer.ts')
  // Applications upgrade their compiler later than their libraries.
  const oldest = join(ROOT, 'node_modules', 'typescript-oldest', 'bin', 'tsc')
  run(home, 'node', oldest, ...STRICT, '--module', 'nodenext', 'consumer.ts')
}

/** The cron engine runs in browsers, too: it needs nobody's types. */
function checkCronTypes(home: string): void {
  writeFileSync(join(home, 'cron.ts'), "export { cron } from 'cronce/cron'")
  run(home, 'tsc', ...ALONE, '--module', 'nodenext', 'cron.ts')
}

function checkCommands(home: string, { bin = {}, version }: Manifest): void {
  for (const name of Object.keys(bin)) {
    const printed = run(home, join(home, 'node_modules', '.bin', name), '--version').trim()
    demand(printed.includes(version), `${name} --version prints ${printed}`)
  }
}

/** What people copy first: the example and the commands; and the test command, which is CI's. check-docs.ts does the rest. */
async function checkReadme(home: string): Promise<void> {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [example] = blocksOf('README.md', readme)
  demand(example?.runs === true, 'README.md begins with no example that runs')
  const line = readme.slice(0, readme.indexOf('```ts')).split('\n').length
  demand(line <= 20, `README.md shows code in line ${line}, not by line 20`)
  writeFileSync(join(home, 'example.ts'), example!.code)
  run(home, 'tsc', ...STRICT, '--module', 'nodenext', 'example.ts')
  const expected = expectedOf(example!.code)
  const problem = judge(expected, await runProgram('node', ['example.ts'], home, expected))
  demand(problem === null, `The README's example: ${problem}`)

  const commands = [...readme.matchAll(/^npx @cronce\/cli (.+)$/gm)].map((match) => match[1]!)
  demand(commands.length > 0, 'README.md shows no command')
  for (const command of commands) {
    const answer = run(home, 'sh', '-c', `node_modules/.bin/cronce ${command}`)
    demand(answer.trim().length > 0, `cronce ${command} prints nothing`)
  }

  const ci = readFileSync(join(ROOT, '.ci', 'run'), 'utf8')
    .trimEnd()
    .split('\n')
    .at(-1)!
  demand(new RegExp(`^${ci}\\b`, 'm').test(readme), `.ci/run ends with "${ci}", which is no command of README.md`)
}

/** What a new user types: the README's commands in an empty folder, beside the service that they start. */
async function checkQuickStart(packages: string): Promise<void> {
  const home = join(scratch, 'quick-start')
  mkdirSync(home)
  symlinkSync(join(packages, 'node_modules'), join(home, 'node_modules'))
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const section = /\n## Without writing a server\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? ''
  const commands = [...section.matchAll(/^npx cronce (.+?)(?:\s+#.*)?$/gm)].map((match) => match[1]!)
  const [init, start, ...others] = commands
  demand(init === 'init' && start?.startsWith('start') === true && others.length > 4, `Its commands are ${commands}`)
  run(home, 'sh', '-c', `node_modules/.bin/cronce ${init}`)
  const service = spawn('sh', ['-c', `exec node_modules/.bin/cronce ${start}`], { cwd: home, stdio: 'ignore' })
  try {
    await untilLive(home)
    for (const command of others) run(home, 'sh', '-c', `node_modules/.bin/cronce ${command}`)
  } finally {
    const ended = once(service, 'exit')
    service.kill('SIGTERM')
    await ended
  }
}

async function untilLive(home: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { stdout } = spawnSync('node_modules/.bin/cronce', ['instances', '--json'], { cwd: home, encoding: 'utf8' })
    if (stdout.includes('"live"')) return
    await sleep(200)
  }
  throw new Error('cronce start does not start')
}

async function lintPackage(folder: string): Promise<void> {
  const pkgDir = join(ROOT, 'packages', folder)
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false })
  // The repository has no public address yet.
  const serious = messages.filter(({ type }) => type !== 'suggestion')
  demand(serious.length === 0, serious.map((message) => formatMessage(message, pkg)).join('\n'))
}

function npm(cwd: string, ...args: string[]): string {
  return run(cwd, 'npm', ...args, '--no-audit', '--no-fund', '--loglevel=error')
}

function run(cwd: string, command: string, ...args: string[]): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

function demand(holds: boolean, message: string): void {
  if (!holds) throw new Error(message)
}

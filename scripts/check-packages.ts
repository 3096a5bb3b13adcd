/**
 * The shape in which users get the packages: pack each one, install it into an empty folder without peers, import and
 * require every subpath, compile against its types, run its commands and the README's example.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { checkFirstSteps } from './packages/first-steps.ts'
import { checkOldNode, findOldNode } from './packages/old-node.ts'
import { checkConformance } from './packages/prove-store.ts'
import { demand, run, runFailing } from './packages/run.ts'
import { describeWeights, type Packed as Weighed, weigh } from './packages/weigh.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: Record<string, string>
  readonly exports: Record<string, unknown>
  readonly homepage?: string
  readonly bugs?: { readonly url: string }
  readonly repository?: { readonly url: string; readonly directory: string }
  readonly keywords?: readonly string[]
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>
}

/** The output of `npm pack --json` for one package. */
interface Packed extends Weighed {
  readonly filename: string
  readonly integrity: string
}

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = readdirSync(join(ROOT, 'packages')).sort()
const REPOSITORY = 'https://github.com/cronce/cronce'
const ALONE = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', '']
const STRICT = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', 'node']
const NODENEXT = ['--module', 'nodenext']
const NODE16 = ['--module', 'node16', '--moduleResolution', 'node16']
const BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler']
const OLDEST_TSC = join(ROOT, 'node_modules', 'typescript-oldest', 'bin', 'tsc')
const scratch = mkdtempSync(join(tmpdir(), 'cronce-packages-'))

try {
  const manifests = FOLDERS.map(readManifest)
  checkVersions(manifests)
  checkAlone(manifests.find(({ name }) => name === 'cronce')!)
  for (const [index, manifest] of manifests.entries()) checkLinks(FOLDERS[index]!, manifest)
  const packed = await pack()
  const home = await install(manifests, packed)
  linkOthers(home)
  const weights = await weigh(home, packed)
  writeConsumers(home, manifests)
  await together(checkTypes(home), checkOldestTypes(home), checkPrograms(home, manifests), ...FOLDERS.map(lintPackage))
  console.log(describeWeights(weights))
  console.log(`${manifests.map(({ name, version }) => `${name} ${version}`).join(', ')}: shape is right`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function readManifest(folder: string): Manifest {
  return readJson(`packages/${folder}/package.json`)
}

/** One version for all, so that two numbers never have to be matched. */
function checkVersions(manifests: readonly Manifest[]): void {
  const versions = new Map(manifests.map(({ name, version }) => [name, version]))
  const wanted = versions.get('cronce')!
  for (const { name, version, dependencies, peerDependencies } of manifests) {
    demand(version === wanted, `${name} is ${version}, cronce is ${wanted}`)
    for (const [sibling, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
      if (versions.has(sibling))
        demand(range === wanted, `${name} depends on ${sibling} ${range}, not exactly ${wanted}`)
    }
  }
}

async function pack(): Promise<readonly Packed[]> {
  const printed = await npm(ROOT, 'pack', '--workspaces', '--json', '--pack-destination', scratch)
  const all = JSON.parse(printed) as readonly Packed[]
  for (const { name, files } of all) checkFiles(name, new Set(files.map(({ path }) => path)))
  return all
}

function checkFiles(name: string, paths: ReadonlySet<string>): void {
  for (const path of ['package.json', 'README.md', 'LICENSE'])
    demand(paths.has(path), `${name} would publish no ${path}`)
  const others = [...paths].filter((path) => !/^(bin|dist)\/|^(package\.json|README\.md|LICENSE)$/.test(path))
  demand(others.length === 0, `${name} would publish ${others.join(', ')}`)
}

/** npm shows these, and shows a README without the files that lie beside it here. */
function checkLinks(folder: string, { name, homepage, bugs, repository, keywords = [] }: Manifest): void {
  const isNamed = homepage !== undefined && bugs !== undefined && keywords.length > 0
  demand(isNamed && repository?.directory === `packages/${folder}`, `${name} names no homepage, bugs or repository`)
  const links = [...readText(`packages/${folder}/README.md`).matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]!)
  const broken = links.filter((link) => !isPublic(link))
  demand(broken.length === 0, `The README of ${name} links to ${broken.join(', ')}, which npm does not show`)
  demand(
    links.some((link) => link.startsWith(REPOSITORY)),
    `The README of ${name} does not link to the repository`,
  )
}

/** Links into the repository must name a file that exists. */
function isPublic(link: string): boolean {
  if (!link.startsWith(REPOSITORY)) return link.startsWith('https://')
  const [, path] = /\/blob\/main\/([^#]+)/.exec(link) ?? []
  return path === undefined || existsSync(join(ROOT, path))
}

/** With a lock file, so that npm need not unpack each package a first time: ours as packed, others as locked here. */
async function install(manifests: readonly Manifest[], packed: readonly Packed[]): Promise<string> {
  const home = join(scratch, 'home')
  mkdirSync(home)
  const { packages: known } = readJson<{ packages: Record<string, Manifest> }>('package-lock.json')
  const locked = new Map<string, object>()
  const dependencies: Record<string, string> = {}
  for (const manifest of manifests) {
    const { filename, integrity } = packed.find(({ name }) => name === manifest.name)!
    dependencies[manifest.name] = `file:../${filename}`
    locked.set(manifest.name, { ...manifest, resolved: `file:../${filename}`, integrity })
  }
  const lockOthers = (wanted: Readonly<Record<string, string>> = {}): void => {
    for (const name of Object.keys(wanted)) {
      if (locked.has(name)) continue
      const entry = known[`node_modules/${name}`]!
      // Binaries for each platform, as far as they are locked: npm installs those that fit.
      const optional = Object.entries(entry.optionalDependencies ?? {}).filter(
        ([each]) => known[`node_modules/${each}`] !== undefined,
      )
      const optionalDependencies = Object.fromEntries(optional)
      locked.set(name, { ...entry, optionalDependencies })
      lockOthers({ ...entry.dependencies, ...optionalDependencies })
    }
  }
  for (const manifest of manifests) lockOthers(manifest.dependencies)
  const root = { private: true, type: 'module', dependencies }
  const entries = [...locked].map(([name, entry]) => [`node_modules/${name}`, entry] as const)
  writeFileSync(join(home, 'package.json'), JSON.stringify(root))
  writeFileSync(
    join(home, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, requires: true, packages: { '': root, ...Object.fromEntries(entries) } }),
  )
  await npm(home, 'ci', '--prefer-offline', '--legacy-peer-deps')
  return home
}

/** The library brings nothing with it. */
function checkAlone({
  dependencies,
  optionalDependencies,
  peerDependencies = {},
  peerDependenciesMeta,
}: Manifest): void {
  const brought = Object.keys({ ...dependencies, ...optionalDependencies })
  const demanded = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  demand(brought.length + demanded.length === 0, `cronce installs ${[...brought, ...demanded].join(', ')}`)
}

function subpathsOf({ name, exports }: Manifest): string[] {
  return Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1))
}

/** The cron engine runs in browsers: a bundle for them fails if it imports anything of Node.js. */
async function checkBrowser(home: string): Promise<void> {
  const stdin = { contents: "export { cron } from 'cronce/cron'", resolveDir: home }
  await build({ stdin, bundle: true, platform: 'browser', format: 'esm', write: false, logLevel: 'silent' })
}

/** What users do with them, one after the other. */
async function checkPrograms(home: string, manifests: readonly Manifest[]): Promise<void> {
  const paths = manifests.flatMap(subpathsOf)
  await checkImports(home, 'module', 'await import(path)', paths)
  // Applications that are CommonJS still: Node 22.12 and later can require ES modules.
  await checkImports(home, 'commonjs', 'require(path)', paths)
  for (const manifest of manifests) await checkCommands(home, manifest)
  await checkLibraryAlone(home)
  await checkShared(home)
  await checkConformance(home, readText('packages/conformance/README.md'), [
    ['tsc', ...STRICT, ...NODENEXT],
    ['node', OLDEST_TSC, ...STRICT, ...NODENEXT],
  ])
  await checkBrowser(home)
  const oldNode = findOldNode()
  if (oldNode === null) console.log('SKIPPED: what an older Node.js says, because there is none on this machine')
  else await checkOldNode(home, oldNode, paths)
  await checkReadme(home)
  await checkQuickStart(home)
}

async function checkImports(home: string, type: string, load: string, paths: readonly string[]): Promise<void> {
  const code = `for (const path of process.argv.slice(1)) console.log(Object.keys(${load}).length)`
  const counts = (await run(home, 'node', `--input-type=${type}`, '-e', code, ...paths)).trim().split('\n').map(Number)
  for (const [index, path] of paths.entries()) demand(counts[index]! > 0, `${path} exports nothing: ${load}`)
}

/** What consumers have anyway: the types of Node.js for TypeScript, OpenTelemetry for `cronce/otel`, Nest for `@cronce/nestjs`. */
function linkOthers(home: string): void {
  for (const scope of ['@types', '@opentelemetry', '@nestjs'])
    mkdirSync(join(home, 'node_modules', scope), { recursive: true })
  for (const name of ['@types/node', 'undici-types', '@opentelemetry/api', '@nestjs/common', '@nestjs/core'])
    symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name))
}

function writeConsumers(home: string, manifests: readonly Manifest[]): void {
  const uses = manifests
    .flatMap(subpathsOf)
    .map((path, index) => `import * as m${index} from '${path}'\nexport const keys${index} = Object.keys(m${index})`)
  writeFileSync(join(home, 'consumer.ts'), uses.join('\n'))
  writeFileSync(join(home, 'cron.ts'), "export { cron } from 'cronce/cron'")
}

/** Types resolve under all ways of module resolution that people use, without skipping our own declarations. */
async function checkTypes(home: string): Promise<void> {
  await run(home, 'tsc', ...STRICT, ...NODENEXT, 'consumer.ts')
  for (const resolution of [NODE16, BUNDLER]) await run(home, 'tsc', ...STRICT, ...resolution, 'consumer.ts')
  // The cron engine runs in browsers too: it needs no other types.
  await run(home, 'tsc', ...ALONE, '--module', 'nodenext', 'cron.ts')
}

/** Applications upgrade their compiler later than their libraries. */
async function checkOldestTypes(home: string): Promise<void> {
  for (const resolution of [NODE16, NODENEXT, BUNDLER])
    await run(home, 'node', OLDEST_TSC, ...STRICT, ...resolution, 'consumer.ts')
}

/** Two packages have the command; npm links the one or the other. */
async function checkCommands(home: string, { name, bin = {}, version }: Manifest): Promise<void> {
  for (const [command, path] of Object.entries(bin)) {
    for (const file of [join(home, 'node_modules', '.bin', command), join(home, 'node_modules', name, path)]) {
      const printed = (await run(home, file, '--version')).trim()
      demand(printed.includes(version), `${file} --version prints ${printed}`)
    }
  }
}

/** `npx cronce` where only the library is installed. */
async function checkLibraryAlone(packages: string): Promise<void> {
  const home = join(scratch, 'library-alone')
  cpSync(join(packages, 'node_modules', 'cronce'), join(home, 'node_modules', 'cronce'), { recursive: true })
  const told = await runFailing(home, join(home, 'node_modules', 'cronce', 'bin', 'cronce.js'), 'list')
  demand(/npm install --save-dev @cronce\/cli@/.test(told), `cronce without @cronce/cli says:\n${told}`)
}

/** Entries are bundles, but a class is the same class in all of them, and what is started by path is found. */
async function checkShared(home: string): Promise<void> {
  copyFileSync(join(import.meta.dirname, 'packages', 'use-everything.mjs'), join(home, 'use-everything.mjs'))
  const printed = (await run(home, 'node', 'use-everything.mjs')).trim()
  demand(printed === 'everything works', `use-everything.mjs prints ${printed}`)
}

/** What people copy first: the example and the commands; and the test command, which is CI's. check-docs.ts does the rest. */
async function checkReadme(home: string): Promise<void> {
  const readme = readText('README.md')
  const line = readme.slice(0, readme.indexOf('```js')).split('\n').length
  demand(line <= 20, `README.md shows code in line ${line}, not by line 20`)
  demand(readme.trimEnd().split('\n').length <= 150, 'README.md is longer than 150 lines')
  await checkFirstSteps(scratch, home, readme)
  const ci = readText('.ci/run').trimEnd().split('\n').at(-1)!
  demand(new RegExp(`^${ci}\\b`, 'm').test(readme), `.ci/run ends with "${ci}", which is not a command of README.md`)
}

/** What a new user types: the first commands of docs/service.md in an empty folder, beside the service that they start. */
async function checkQuickStart(packages: string): Promise<void> {
  const home = join(scratch, 'quick-start')
  mkdirSync(home)
  symlinkSync(join(packages, 'node_modules'), join(home, 'node_modules'))
  const [beginning = ''] = readText('docs/service.md').split('\n## ')
  const written = [...beginning.matchAll(/^cronce (.+?)(?:\s+#.*)?$/gm)].map((match) => match[1]!)
  // Without the store of the example, which is on no machine of ours.
  const commands = written.filter((command) => command !== 'dev').map((command) => command.replace(/ --store \S+/, ''))
  const [init, start, ...others] = commands
  demand(init === 'init' && start === 'start' && others.length > 4, `The commands of docs/service.md are ${commands}`)
  await run(home, 'sh', '-c', `node_modules/.bin/cronce ${init}`)
  const service = spawn('sh', ['-c', `exec node_modules/.bin/cronce ${start}`], { cwd: home, stdio: 'ignore' })
  try {
    await untilLive(home)
    for (const command of others) await run(home, 'sh', '-c', `node_modules/.bin/cronce ${command}`)
  } finally {
    const ended = once(service, 'exit')
    service.kill('SIGTERM')
    await ended
  }
}

async function untilLive(home: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    // The process has no store until it has created one.
    const listed = await run(home, 'node_modules/.bin/cronce', 'instances', '--json').catch(String)
    if (listed.includes('"live"')) return
    await sleep(200)
  }
  throw new Error('cronce start does not start')
}

async function lintPackage(folder: string): Promise<void> {
  const pkgDir = join(ROOT, 'packages', folder)
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false })
  demand(messages.length === 0, messages.map((message) => formatMessage(message, pkg)).join('\n'))
}

function npm(cwd: string, ...args: string[]): Promise<string> {
  return run(cwd, 'npm', ...args, '--no-audit', '--no-fund', '--loglevel=error')
}

/** All of them to their end, so that nothing works in a folder that is being removed; then the first that failed. */
async function together(...checks: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(checks)) if (result.status === 'rejected') throw result.reason
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readText(path)) as Value
}

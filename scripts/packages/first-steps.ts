import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { demand, run } from './run.ts'

const REQUIRE = "const { cronce } = require('cronce')"
const IMPORT = "import { cronce } from 'cronce'"
/** A liveness limit, for a machine that is busy with other work. */
const LIMIT_MS = 120_000

const PACKAGES = join(import.meta.dirname, '..', '..', 'packages')

interface Process {
  readonly child: ChildProcess
  /** The due times that it printed. */
  readonly printed: string[]
}

/**
 * The first steps of the README in an empty folder: its snippet in three processes, of which one is killed, then its commands. Both as
 * CommonJS, which is what `npm init -y` sets up, and as an ES module.
 */
export async function checkFirstSteps(scratch: string, packages: string, readme: string): Promise<void> {
  const [, code = ''] = /^```js\n([\s\S]*?)^```/m.exec(readme) ?? []
  demand(
    code.includes(REQUIRE) && readme.includes(IMPORT),
    'README.md begins with no example for both kinds of modules',
  )
  checkInstall(readme)
  const home = join(scratch, 'first-steps')
  mkdirSync(home)
  symlinkSync(join(packages, 'node_modules'), join(home, 'node_modules'))
  await run(home, 'npm', 'init', '-y')
  writeFileSync(join(home, 'index.js'), code)
  writeFileSync(join(home, 'index.mjs'), code.replace(REQUIRE, IMPORT))
  const started = ['index.js', 'index.mjs', 'index.js'].map((file) => start(home, file))
  try {
    const first = await printing(started, 3)
    const before = first.printed.slice(0, -1)
    first.child.kill('SIGKILL')
    const others = started.filter((one) => one !== first)
    await printing(others, 3)
    // What the killed process had begun is run again; everything else ran once.
    const all = [...before, ...others.flatMap(({ printed }) => printed)]
    demand(new Set(all).size === all.length, `README.md: a due time ran twice: ${all.join(', ')}`)
  } finally {
    for (const { child } of started) if (child.exitCode === null && child.signalCode === null) await end(child)
  }
  const [, commands = ''] = /Then see what ran:\n\n```sh\n([\s\S]*?)^```/m.exec(readme) ?? []
  const lines = commands.split('\n').filter((line) => line.startsWith('npx cronce '))
  demand(lines.length > 0, 'README.md shows no command to see what ran')
  for (const line of lines) {
    const answer = await run(home, 'sh', '-c', line.replace('npx cronce', 'node_modules/.bin/cronce'))
    demand(answer.includes('billing') || answer.includes('Sound'), `${line} prints\n${answer}`)
  }
}

/** Until the packages are published: all of them are packed, and the pattern of the install line matches all files. */
function checkInstall(readme: string): void {
  const folders = readdirSync(PACKAGES).map((folder) => `packages/${folder}`)
  const root = readFileSync(join(PACKAGES, '..', 'package.json'), 'utf8')
  const { workspaces } = JSON.parse(root) as { workspaces: readonly string[] }
  demand(readme.includes('npm pack --workspaces'), 'README.md does not pack the packages')
  demand(workspaces.toSorted().join() === folders.toSorted().join(), 'package.json does not name all packages')
  const [, pattern] = /npm install \.\/(\S+)\*\.tgz/.exec(readme) ?? []
  const names = folders.map((folder) => readFileSync(join(PACKAGES, '..', folder, 'package.json'), 'utf8'))
  // npm names the file of `@cronce/cli` cronce-cli-0.1.0.tgz.
  const files = names.map((text) => (JSON.parse(text) as { name: string }).name.replace('@', '').replace('/', '-'))
  demand(
    pattern !== undefined && files.every((file) => `${file}-`.startsWith(pattern)),
    'README.md has no line that installs all packed files',
  )
}

function start(home: string, file: string): Process {
  const child = spawn('node', [file], { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  const printed: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.push(...[...text.matchAll(/billing of (\S+) by process \d+/g)].map((match) => match[1]!))
  })
  return { child, printed }
}

/** The process that prints, once it has printed this many lines. */
async function printing(started: readonly Process[], count: number): Promise<Process> {
  const deadline = Date.now() + LIMIT_MS
  for (;;) {
    const found = started.find(({ printed }) => printed.length >= count)
    if (found !== undefined) return found
    demand(Date.now() < deadline, `README.md: its example prints nothing in ${LIMIT_MS} ms`)
    await sleep(100)
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/**
 * What users read is so: every block of TypeScript in the docs compiles, those marked `run` print what they say, every example
 * does, links lead somewhere, the tables name all codes, events and options that there are, and figures are those of docs/reports.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { CLI_DOC, renderCliDoc } from './docs/cli.ts'
import { examplesIn, withExamples } from './docs/examples.ts'
import { cliCodesInSource, codesInSource, eventsInSource, optionsInSource } from './docs/in-source.ts'
import { generatePrisma, prismaSchemaOf } from './docs/prisma.ts'
import { anchorsOf, type Block, blocksOf, expectedOf, judge, linksOf, tableNames } from './docs/read-docs.ts'
import { runProgram } from './docs/run-program.ts'
import { undocumentedExports } from './docs/undocumented.ts'
import { figureProblems } from './reports/run.ts'

const ROOT = resolve(import.meta.dirname, '..')
const DOCS = [
  'README.md',
  'packages/cronce/README.md',
  'packages/cli/README.md',
  'packages/checker/README.md',
  'packages/conformance/README.md',
  'packages/dashboard/README.md',
  'packages/nestjs/README.md',
  'packages/queues/README.md',
  'packages/server/README.md',
  'CONTRIBUTING.md',
  ...list('docs', '.md'),
]
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-docs-')))
// The packages of the checkout are found by their names.
symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'))
writeFileSync(join(scratch, 'package.json'), '{ "name": "docs", "type": "module" }')
const AT_A_TIME = 3
/** Applications of Nest are compiled as its own tools compile them. */
const NEST = {
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  erasableSyntaxOnly: false,
  noPropertyAccessFromIndexSignature: false,
}
/** Those in folders need more than themselves: scripts/recipes starts them. */
const PROGRAMS = list('examples', '').filter((file) => dirname(file) === 'examples')
const problems: string[] = []

try {
  checkLinks()
  checkTables()
  checkNames()
  checkExamples()
  problems.push(...undocumentedExports(), ...figureProblems())
  await checkCli()
  const blocks = DOCS.flatMap((file) => blocksOf(file, read(file)))
  for (const block of blocks) writeFileSync(join(scratch, block.name), block.code)
  // The recipe for Prisma imports what Prisma generates.
  await generatePrisma(prismaSchemaOf(read('docs/postgres.md')), scratch)
  // Side by side: most of the programs wait for their schedules.
  await Promise.all([compile(blocks), runAll(blocks)])
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`${blocks.length} blocks, ${PROGRAMS.length} examples: all is as the docs say`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function checkLinks(): void {
  for (const file of DOCS) {
    for (const { file: name, anchor } of linksOf(read(file))) {
      const path = name === '' ? file : join(dirname(file), name)
      if (!existsSync(join(ROOT, path))) problems.push(`${file}: there is no ${name}`)
      else if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(read(path)).has(anchor))
        problems.push(`${file}: ${path} has no heading #${anchor}`)
    }
  }
}

function checkTables(): void {
  const api = read('docs/api.md')
  const source = new Map(list('packages/cronce/src', '.ts').map((file) => [file, read(file)]))
  compare('error codes', codesInSource(source), tableNames(api, 'Errors', /^[A-Z][A-Z_]+$/))
  compare('events', eventsInSource(source), tableNames(api, 'Events', /^[a-z]+\.[a-zA-Z]+$/))
  const spans = [...api.matchAll(/`([^`\n]+)`/g)].flatMap((match) => match[1]!.match(/\w+/g) ?? [])
  const written = new Set(spans)
  for (const option of optionsInSource(source)) {
    if (!written.has(option)) problems.push(`docs/api.md does not tell the option ${option}`)
  }
}

/** The page about the command line is generated from its table of commands, and the pages together list all codes. */
async function checkCli(): Promise<void> {
  const page = read(CLI_DOC)
  if (page !== (await renderCliDoc())) problems.push(`${CLI_DOC} is not fresh: run node scripts/docs/cli.ts`)
  const own = tableNames(page, 'Codes', /^[A-Z][A-Z_]+$/)
  const told = tableNames(read('docs/api.md'), 'Errors', /^[A-Z][A-Z_]+$/)
  const made = cliCodesInSource(list('packages/cli/src', '.ts').map(read))
  for (const code of made)
    if (!own.has(code) && !told.has(code)) problems.push(`${CLI_DOC}: the code ${code} is missing`)
  for (const code of own) if (code !== 'USAGE' && !made.has(code)) problems.push(`${CLI_DOC}: there is no code ${code}`)
}

/** Tests that prove something exist, and so do commands that the docs give. No example uses internal code. */
function checkNames(): void {
  for (const file of [
    'docs/guarantees.md',
    'docs/verification.md',
    'docs/stores.md',
    'docs/etcd.md',
    'docs/zookeeper.md',
  ]) {
    for (const [, test] of read(file).matchAll(/`((?:[\w-]+\/)+[\w-]+\.(?:test\.)?ts)`/g)) {
      const isThere = ['', 'packages/cronce/test'].some((folder) => existsSync(join(ROOT, folder, test!)))
      if (!isThere) problems.push(`${file}: there is no ${test}`)
    }
  }
  for (const file of [...DOCS, ...list('examples', '')]) {
    if (/from 'cronce\/internal'/.test(read(file))) problems.push(`${file}: cronce/internal is not for applications`)
  }
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const file of DOCS) {
    for (const [, name] of read(file).matchAll(/\bnpm run (?!--)([\w:-]+)/g)) {
      if (scripts[name!] === undefined) problems.push(`${file}: there is no npm run ${name}`)
    }
  }
}

/** Every recipe is shown by a page, as its file is. */
function checkExamples(): void {
  for (const file of DOCS) {
    if (read(file) !== withExamples(read(file), read)) {
      problems.push(`${file} shows another example than the file: run node scripts/docs/examples.ts`)
    }
  }
  const shown = new Set(DOCS.flatMap((file) => examplesIn(read(file))))
  for (const file of list('examples', '')) {
    if (!PROGRAMS.includes(file) && !shown.has(file)) problems.push(`No page shows ${file}`)
  }
}

function compare(what: string, there: ReadonlySet<string>, told: ReadonlySet<string>): void {
  for (const name of there) if (!told.has(name)) problems.push(`docs/api.md, ${what}: ${name} is missing`)
  for (const name of told) if (!there.has(name)) problems.push(`docs/api.md, ${what}: there is no ${name}`)
}

async function compile(blocks: readonly Block[]): Promise<void> {
  const isNest = ({ code }: Block): boolean => /from '@nestjs\//.test(code)
  await Promise.all([
    compileAs(
      'tsconfig.json',
      {},
      blocks.filter((block) => !isNest(block)),
    ),
    compileAs('tsconfig.nest.json', NEST, blocks.filter(isNest)),
  ])
}

async function compileAs(file: string, options: object, blocks: readonly Block[]): Promise<void> {
  const config = {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: { noEmit: true, noUnusedLocals: false, noUnusedParameters: false, ...options },
    files: blocks.map(({ name }) => name),
  }
  writeFileSync(join(scratch, file), JSON.stringify(config))
  const { output, code } = await runProgram('tsc', ['-p', join(scratch, file)], ROOT)
  const where = relative(ROOT, scratch)
  if (code !== 0)
    problems.push(blocks.reduce((text, { name, place }) => text.replaceAll(join(where, name), place), output))
}

async function runAll(blocks: readonly Block[]): Promise<void> {
  const programs = [
    ...blocks
      .filter(({ runs }) => runs)
      .map(({ name, place, code }) => ({ place, path: join(scratch, name), expected: expectedOf(code) })),
    ...PROGRAMS.map((file) => ({ place: file, path: join(ROOT, file), expected: expectedOf(read(file)) })),
  ]
  const waiting = programs.entries()
  const work = async (): Promise<void> => {
    for (const [index, { place, path, expected }] of waiting) {
      const home = join(scratch, String(index))
      mkdirSync(home)
      const args = path.endsWith('.test.ts') ? ['--test', path] : [path]
      const problem = judge(expected, await runProgram('node', args, home, { expected }))
      if (problem !== null) problems.push(`${place}: ${problem}`)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
}

function list(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort()
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

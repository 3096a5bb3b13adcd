import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

/** docs/api.md has this table: which compilers and settings find the types, from which kind of project. */

const ROOT = join(import.meta.dirname, '../../..')
const COMPILERS = {
  '5.4': join(ROOT, 'node_modules/typescript-oldest/bin/tsc'),
  '5.9': join(ROOT, 'node_modules/typescript-5.9/bin/tsc'),
  '7': join(ROOT, 'node_modules/typescript/bin/tsc'),
} as const

type Compiler = keyof typeof COMPILERS
type Kind = 'module' | 'commonjs'

const SETTINGS = {
  commonjs: ['--module', 'commonjs', '--esModuleInterop'],
  node16: ['--module', 'node16'],
  node18: ['--module', 'node18'],
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
} as const

const CODE = `
import { cronce, CronceError, ERROR_CODES, type Duration, type ErrorCode } from 'cronce'
import { cron } from 'cronce/cron'
import { sqlite } from 'cronce/sqlite'
import { testKit } from 'cronce/testing'

const every: Duration = '1h30m'
const app = cronce({ store: sqlite('./cronce.db'), logger: false })
app.job('report', { every, timeout: '5m' }, async (run) => run.fire.dueAt)
export const next: number | null = cron('0 3 * * *').next(0)
export const kit = testKit()
export const codeOf = (error: unknown): ErrorCode | null => (error instanceof CronceError ? error.code : null)
export const status: number | null = ERROR_CODES.SCHEDULE_NOT_FOUND.status
`

function project(context: TestContext, kind: Kind): string {
  const home = mkdtempSync(join(tmpdir(), 'cronce-import-'))
  context.after(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(ROOT, 'packages/cronce'), join(home, 'node_modules/cronce'))
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name))
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: kind }))
  writeFileSync(join(home, 'app.ts'), CODE)
  return home
}

/** What the compiler complains about, by its codes. */
function compile(home: string, compiler: Compiler, setting: keyof typeof SETTINGS): Promise<readonly string[]> {
  const strict = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', 'node']
  const args = [COMPILERS[compiler], ...strict, ...SETTINGS[setting], 'app.ts']
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: home }, (_error, stdout, stderr) => {
      const said = `${stdout}${stderr}`
      const codes = [...new Set(said.match(/TS\d+/g) ?? [])]
      resolve(said !== '' && codes.length === 0 ? [said] : codes)
    })
  })
}

/** TS1479: an ES module can't be required. TS6046: this compiler has no such module setting. */
const TABLE: Readonly<Record<keyof typeof SETTINGS, Readonly<Record<Compiler, Readonly<Record<Kind, string>>>>>> = {
  commonjs: {
    '5.4': { module: '', commonjs: '' },
    '5.9': { module: '', commonjs: '' },
    '7': { module: '', commonjs: '' },
  },
  node16: {
    '5.4': { module: '', commonjs: 'TS1479' },
    '5.9': { module: '', commonjs: 'TS1479' },
    '7': { module: '', commonjs: 'TS1479' },
  },
  node18: {
    '5.4': { module: 'TS6046', commonjs: 'TS6046' },
    '5.9': { module: '', commonjs: 'TS1479' },
    '7': { module: '', commonjs: 'TS1479' },
  },
  nodenext: {
    '5.4': { module: '', commonjs: 'TS1479' },
    '5.9': { module: '', commonjs: '' },
    '7': { module: '', commonjs: '' },
  },
  bundler: {
    '5.4': { module: '', commonjs: '' },
    '5.9': { module: '', commonjs: '' },
    '7': { module: '', commonjs: '' },
  },
}

const { CRONCE_LONG } = process.env

/** All of the table takes minutes: what users have most is compiled each time. */
function isWanted(compiler: Compiler, setting: keyof typeof SETTINGS, kind: Kind): boolean {
  if (CRONCE_LONG === '1') return true
  return compiler === '5.9' && kind === 'commonjs' && ['commonjs', 'nodenext', 'bundler'].includes(setting)
}

test('the types are found under the compilers and settings that the documentation names', async (context) => {
  const homes = { module: project(context, 'module'), commonjs: project(context, 'commonjs') }
  for (const setting of Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]) {
    for (const compiler of Object.keys(COMPILERS) as Compiler[]) {
      for (const kind of ['module', 'commonjs'] as const) {
        if (!isWanted(compiler, setting, kind)) continue
        const found = await compile(homes[kind], compiler, setting)
        assert.equal(found.join(' '), TABLE[setting][compiler][kind], `TypeScript ${compiler}, ${setting}, ${kind}`)
      }
    }
  }
})

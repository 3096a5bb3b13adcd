import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { proveRecipe } from './replicas.ts'

// The registry of npm has the programs of both as packages, of 100 MB each: installed here, not in the workspace.

const ROOT = join(import.meta.dirname, '../..')
const RUNTIMES = [
  { name: 'Deno', package: 'deno@2.9.6', program: `@deno/linux-${process.arch}-glibc/deno`, args: ['run', '-A'] },
  { name: 'Bun', package: 'bun@1.4.4', program: `@oven/bun-linux-${process.arch}/bin/bun`, args: ['run'] },
]
const UNSUPPORTED = process.platform === 'linux' ? false : 'the packages are those of Linux'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-runtimes-')))
after(() => rmSync(folder, { recursive: true, force: true }))

for (const { name, package: wanted, program, args } of RUNTIMES) {
  test(`the recipe without a framework, on ${name}`, { skip: UNSUPPORTED }, async (context) => {
    const home = join(folder, name)
    mkdirSync(home)
    writeFileSync(join(home, 'package.json'), '{ "name": "runtime", "type": "module", "private": true }')
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', wanted], {
      cwd: home,
    })
    symlinkSync(join(ROOT, 'packages/cronce'), join(home, 'node_modules/cronce'))
    copyFileSync(join(ROOT, 'examples/frameworks/http.ts'), join(home, 'http.ts'))
    await proveRecipe(context, { command: [join(home, 'node_modules', program), ...args, join(home, 'http.ts')] })
  })
}

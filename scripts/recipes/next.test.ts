import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { proveRecipe } from './replicas.ts'

// 340 MB: installed here, not in the workspace.
// Without the types, Next.js would install them, and remove what package.json does not name.
const TYPES = ['typescript@5.9.3', '@types/react@19', '@types/node@24']
const PACKAGES = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1', ...TYPES]
const ROOT = join(import.meta.dirname, '../..')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-next-')))
after(() => rmSync(folder, { recursive: true, force: true }))

test('the recipe for Next.js: instrumentation starts the jobs, and a route handler is of the same app', async (context) => {
  cpSync(join(ROOT, 'examples/frameworks/next'), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "recipe", "type": "module", "private": true }')
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES]
  execFileSync('npm', npm, { cwd: folder })
  // A copy: Turbopack does not follow links that lead out of the folder.
  for (const name of ['package.json', 'dist']) {
    cpSync(join(ROOT, 'packages/cronce', name), join(folder, 'node_modules/cronce', name), { recursive: true })
  }
  // The types are checked here, with the other examples.
  renameSync(join(folder, 'next.config.mjs'), join(folder, 'next.config.own.mjs'))
  const config =
    "import own from './next.config.own.mjs'\nexport default { ...own, typescript: { ignoreBuildErrors: true } }\n"
  writeFileSync(join(folder, 'next.config.mjs'), config)
  const next = join(folder, 'node_modules/next/dist/bin/next')
  const env = { NEXT_TELEMETRY_DISABLED: '1', NEXT_MANUAL_SIG_HANDLE: 'true' }
  execFileSync(process.execPath, [next, 'build'], { cwd: folder, env: { ...process.env, ...env }, stdio: 'pipe' })
  await proveRecipe(context, { command: [process.execPath, next, 'start', folder, '-p', '0'], env })
})

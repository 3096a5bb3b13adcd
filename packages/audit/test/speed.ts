/**
 * Measures the audit on a synthetic tree: `node packages/audit/test/speed.ts [--files 30000]`. It needs `npm run build`.
 * Every fiftieth file holds a schedule; the others are code, manifests and text as repositories have them.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const MAIN = pathToFileURL(resolve(import.meta.dirname, '../dist/main.js')).href
const { values } = parseArgs({ options: { files: { type: 'string', default: '30000' } } })
const root = mkdtempSync(join(tmpdir(), 'cronce-audit-speed-'))
const OUTPUT = `${root}-report.txt`
try {
  for (let index = 0; index < Number(values.files); index++) write(index)
  report('start-up (--version)', ['--version'])
  report(`${values.files} files, first run`, [root, '--output', OUTPUT])
  report(`${values.files} files, second run`, [root, '--output', OUTPUT])
} finally {
  rmSync(root, { recursive: true, force: true })
  rmSync(OUTPUT, { force: true })
}

/** CPU time and memory of one process of the built command. */
function report(title: string, args: readonly string[]): void {
  const measure = `process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    console.error(JSON.stringify({ cpuS: (user + system) / 1e6, mb: Math.round(process.resourceUsage().maxRSS / 1024) }))
  })
  process.argv.splice(1, 0, 'cronce-audit')
  await import(${JSON.stringify(MAIN)})`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', measure, '--', ...args], {
    encoding: 'utf8',
  })
  console.log(title, stderr.trim().split('\n').at(-1))
}

function write(index: number): void {
  const [path, text] = fileOf(index)
  const file = join(root, `packages/p${index % 200}/src/d${index % 7}`, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function fileOf(index: number): readonly [string, string] {
  const scheduled = index % 50 === 0
  switch (index % 10) {
    case 0:
      return scheduled
        ? [
            `jobs${index}.ts`,
            `import cron from 'node-cron'\nimport { send${index} } from './mod${index}.ts'\ncron.schedule('0 3 * * *', async () => { await send${index}() })\n`,
          ]
        : [`view${index}.tsx`, `${component(index)}`]
    case 1:
      return [`task${index}.py`, `import os\n\n${'def run(a, b):\n    return a + b\n\n'.repeat(20)}`]
    case 2:
      return [`values${index}.yaml`, `image:\n  name: app\n${'env:\n  - name: A\n    value: b\n'.repeat(15)}`]
    case 3:
      return [`notes${index}.md`, '# Notes\n\nSome words about the schedule of this week.\n'.repeat(20)]
    default:
      return [`mod${index}.ts`, module(index)]
  }
}

function module(index: number): string {
  const one = (each: number): string =>
    `export async function f${index}_${each}(rows: readonly Row[]): Promise<number> {\n  const kept = rows.filter(({ id }) => id > ${each})\n  return kept.length\n}\n\n`
  return Array.from({ length: 12 }, (_, each) => one(each)).join('')
}

function component(index: number): string {
  return `import { useState } from 'react'\n\nexport function View${index}() {\n  const [open, setOpen] = useState(false)\n  return <button onClick={() => setOpen(!open)}>{open ? 'a' : 'b'}</button>\n}\n`.repeat(
    3,
  )
}

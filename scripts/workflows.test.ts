import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { longParts } from '../verification/long/parts.ts'
import { SOAK_STORES } from '../verification/soak/sizes.ts'

const ROOT = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly 'timeout-minutes'?: number
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> }
        readonly steps: readonly { readonly run?: string; readonly uses?: string }[]
      }
    >
  >
}

const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT }).map((file) => ({
  file,
  workflow: parse(readFileSync(join(ROOT, file), 'utf8')) as Workflow,
}))

test('workflows run scripts that exist, with few permissions and a time limit', () => {
  assert.deepEqual(workflows.map(({ file }) => file).sort(), [
    ...['.github/workflows/ci.yml', '.github/workflows/evidence.yml', '.github/workflows/release.yml'],
  ])
  for (const { file, workflow } of workflows) {
    assert.notEqual(workflow.permissions, undefined, `${file} states its permissions`)
    for (const [name, job] of Object.entries(workflow.jobs)) {
      assert.notEqual(job['timeout-minutes'], undefined, `${file}: ${name} has a time limit`)
      const called = job.steps.flatMap(({ run = '' }) =>
        [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script!),
      )
      assert.deepEqual(
        called.filter((script) => !(script in scripts)),
        [],
        `${file}: ${name}`,
      )
    }
  }
})

test('the raw material of a release has every part of the long verification and every store of the soak', () => {
  const { workflow } = workflows.find(({ file }) => file.endsWith('evidence.yml'))!
  const sizes = { simulationSeconds: 1, simulationSlices: 1, fires: 1, states: 1, fleetSeconds: 1, folder: '' }
  const parts = longParts(sizes, { models: ['model'], mutants: ['mutant'] }).map(({ name }) => name)
  assert.deepEqual(workflow.jobs['part']!.strategy!.matrix['part'], parts)
  assert.deepEqual(workflow.jobs['soak']!.strategy!.matrix['store'], Object.keys(SOAK_STORES))
})

test('issue forms can be read, and each of them asks for something', () => {
  for (const file of globSync('.github/ISSUE_TEMPLATE/{bug,idea}.yml', { cwd: ROOT })) {
    const { name, body } = parse(readFileSync(join(ROOT, file), 'utf8')) as { name: string; body: { type: string }[] }
    assert.ok(name.length > 0 && body.some(({ type }) => type === 'textarea'), file)
  }
})

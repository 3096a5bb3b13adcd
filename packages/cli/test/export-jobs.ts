import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { ask } from './cronce.ts'

export function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'cronce-export-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export type Jobs = Readonly<Record<string, object>>

interface Finding {
  readonly job: string
  readonly level: string
  readonly what: string
}

/** Export a record of jobs, and read what comes out. */
export async function exported(context: TestContext, form: string, jobs: Jobs, ...flags: string[]) {
  const cwd = folder(context)
  writeFileSync(join(cwd, 'jobs.json'), JSON.stringify(jobs))
  const { status, stdout, stderr } = await ask(['export', form, 'jobs.json', '--json', ...flags], {}, { cwd })
  assert.ok(stdout !== '', stderr)
  const { text, findings } = JSON.parse(stdout) as { text: string; findings: Finding[] }
  return { status, text, told: findings.map(({ job, level, what }) => `${job}: ${level} ${what}`) }
}

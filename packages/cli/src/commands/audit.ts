import type { Args, Flags } from '../args.ts'
import type { Io } from '../io.ts'
import { loadAudit } from '../load-audit.ts'
import { UsageError } from '../usage-error.ts'
import { version } from '../version.ts'
import type { Command } from './command.ts'

const FLAGS: Flags = {
  format: {
    type: 'string',
    value: 'FORMAT',
    choices: ['text', 'json', 'sarif', 'github', 'html'],
    help: 'What to print',
  },
  output: { type: 'string', value: 'FILE', help: 'Write the report to a file' },
  'fail-on': {
    type: 'string',
    value: 'LEVEL',
    choices: ['error', 'warning', 'info'],
    help: 'Exit code 10 for findings of this level or above; error unless given',
  },
  baseline: { type: 'string', value: 'FILE', help: 'Report only findings that are not in this file' },
  'update-baseline': { type: 'boolean', help: 'Write all findings to the baseline' },
  inventory: { type: 'boolean', help: 'Print the schedules only' },
  checklist: { type: 'boolean', help: 'Print the 15 points of a review' },
  changed: { type: 'string', value: 'REF', help: 'Only findings on lines that changed since this commit or branch' },
  fix: { type: 'boolean', help: 'Repair what can be repaired, and print the patch' },
  'fix-dry-run': { type: 'boolean', help: 'Print the patch, and change nothing' },
  migrate: { type: 'boolean', help: 'Print the cronce declaration of each in-process job with a finding' },
  explain: { type: 'string', value: 'RULE', help: 'Say what a rule means, with an example' },
  'list-rules': { type: 'boolean', help: 'Print all rules' },
}

export const audit: Command = {
  operands: '[paths]',
  examples: [
    ['cronce audit', 'the schedules of this folder, and what is unsafe about them'],
    ['cronce audit --format sarif --output audit.sarif', 'for code scanning'],
    ['cronce audit --fail-on warning', 'for a pipeline: exit code 10 for warnings, too'],
    ['cronce audit --explain FLT001', 'what a rule means'],
    ['cronce audit --changed origin/main', 'only what this branch changes'],
    ['cronce audit --fix-dry-run', 'the patch that repairs what can be repaired'],
  ],
  about:
    'It reads files and runs nothing of them. Exit code 10 for findings, 2 for wrong usage. It needs the package @cronce/audit.\nAll rules: https://github.com/cronce/cronce/blob/main/docs/audit.md',
  flags: {
    ...FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object, {"version": 1, …}, as --format json does' },
  },
  run: runAudit,
}

async function runAudit(args: Args, io: Io): Promise<number> {
  const installed = await loadAudit()
  if (installed !== null)
    return installed.runCommand(argvOf(args), { folder: io.cwd, version: version(), out: io.out, error: io.err })
  throw new UsageError(
    '`cronce audit` needs the package @cronce/audit.',
    'Install it with `npm install --save-dev @cronce/audit`.',
  )
}

function argvOf(args: Args): string[] {
  const flags = Object.entries(FLAGS).flatMap(([name, { type }]) => {
    if (!args.has(name)) return []
    return type === 'boolean' ? [`--${name}`] : [`--${name}=${args.text(name)!}`]
  })
  return [...flags, ...(args.has('json') ? ['--format=json'] : []), '--', ...args.positionals]
}

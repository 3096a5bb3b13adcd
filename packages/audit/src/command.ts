import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Audit, audit } from './audit.ts'
import { compare, readBaseline, writeBaseline } from './decide/baseline.ts'
import { changedLines, onChanged } from './decide/changed.ts'
import { fingerprintsOf } from './decide/fingerprints.ts'
import { SettingsError, unknownRules } from './decide/settings.ts'
import { applySuppressions } from './decide/suppressions.ts'
import { diskTree } from './discover/disk-tree.ts'
import { encodeLike } from './discover/encoding.ts'
import { gitChanges } from './discover/git-changes.ts'
import type { FileTree } from './discover/tree.ts'
import { fixFindings } from './fix/fix.ts'
import { patchOf } from './fix/patch.ts'
import { checklist } from './report/checklist.ts'
import { explain, listRules } from './report/explain.ts'
import { githubReport } from './report/github.ts'
import { htmlReport } from './report/html.ts'
import { jsonReport } from './report/json.ts'
import { migration } from './report/migrate.ts'
import type { Report } from './report/report.ts'
import { sarifReport } from './report/sarif.ts'
import { textReport } from './report/text.ts'
import type { Finding, Level } from './rules/rule.ts'
import { RULES } from './rules/rules.ts'

/** Where the command writes, and where it starts. */
export interface CommandIo {
  readonly folder: string
  readonly version: string
  out(text: string): void
  error(text: string): void
}

export const EXIT = { ok: 0, internal: 1, usage: 2, findings: 10 } as const

export const USAGE = `Usage: cronce audit [paths] [options]

Finds cron jobs that can run twice, overlap, get lost or run at the wrong time. It reads files and runs nothing.

  --format text|json|sarif|github|html  what to print (text)
  --output FILE                    write the report to a file
  --fail-on error|warning|info     exit code 10 at this level or above (error)
  --baseline FILE                  report only findings that are not in this file
  --update-baseline                write all findings to the baseline
  --inventory                      print the schedules only
  --checklist                      print the 15 points of a review
  --changed REF                    only findings on lines that changed since REF, and on units that they start
  --fix, --fix-dry-run             repair what can be repaired, and print the patch; or print it only
  --migrate                        print the cronce declaration of each job with a finding
  --explain RULE                   say what a rule means, with an example
  --list-rules                     print all rules
  --help, --version

Exit codes: 0 nothing at the level of --fail-on, 10 findings, 2 wrong usage, 1 internal error.
`

const OPTIONS = {
  format: { type: 'string', default: 'text' },
  output: { type: 'string' },
  'fail-on': { type: 'string', default: 'error' },
  baseline: { type: 'string' },
  'update-baseline': { type: 'boolean' },
  inventory: { type: 'boolean' },
  checklist: { type: 'boolean' },
  changed: { type: 'string' },
  fix: { type: 'boolean' },
  'fix-dry-run': { type: 'boolean' },
  migrate: { type: 'boolean' },
  explain: { type: 'string' },
  'list-rules': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

class UsageProblem extends Error {}

type Values = ReturnType<typeof parse>['values']

/** Runs the command and says with which code the process should end. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const { values, positionals } = parse(args)
    const answered = answerWithoutFiles(values, io)
    return answered ?? (await auditFiles(values, positionals, io))
  } catch (error) {
    if (!(error instanceof UsageProblem || error instanceof SettingsError)) throw error
    io.error(`${error.message}\n`)
    return EXIT.usage
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageProblem(`${error instanceof Error ? error.message : String(error)}\nSee \`cronce audit --help\`.`)
  }
}

function answerWithoutFiles(values: Values, io: CommandIo): number | null {
  if (values.help) io.out(USAGE)
  else if (values.version) io.out(`${io.version}\n`)
  else if (values['list-rules']) io.out(listRules(RULES))
  else if (values.explain !== undefined) {
    const id = values.explain.toUpperCase()
    const rule = RULES.find((each) => each.id === id)
    if (rule === undefined)
      throw new UsageProblem(
        `There is no rule \`${values.explain}\`. \`cronce audit --list-rules\` prints all of them.`,
      )
    io.out(explain(rule))
  } else return null
  return EXIT.ok
}

const FORMATS = ['text', 'json', 'sarif', 'github', 'html'] as const

async function auditFiles(values: Values, positionals: readonly string[], io: CommandIo): Promise<number> {
  const format = oneOf(values.format, FORMATS, '--format')
  const threshold = oneOf(values['fail-on'], ['error', 'warning', 'info'], '--fail-on')
  const { root, isAsked } = scopeOf(positionals, io.folder)
  const tree = diskTree(root)
  const result = await audit(tree)
  const unknown = unknownRules(result.settings, RULES)
  if (unknown.length > 0) throw new UsageProblem(`The configuration names the unknown rule ${unknown[0]}.`)
  const baseline = values.baseline === undefined ? null : resolve(io.folder, values.baseline)
  const isUpdate = values['update-baseline'] === true
  if (isUpdate && baseline === null) throw new UsageProblem('`--update-baseline` needs `--baseline FILE`.')
  const { report: whole, all } = reportOf(tree, result, isAsked, baseline, isUpdate)
  if (isUpdate) writeFileSync(baseline!, writeBaseline(all, whole.fingerprints))
  const report = values.changed === undefined ? whole : onlyChanged(whole, root, values.changed)
  const { text, left } =
    values.fix || values['fix-dry-run']
      ? await repaired(report, root, values.fix === true)
      : { text: textOf(report, result, format, values, io.version), left: report.findings }
  if (values.output === undefined) io.out(text)
  else writeFileSync(resolve(io.folder, values.output), text)
  return left.some(({ level }) => RANK[level] >= RANK[threshold]) ? EXIT.findings : EXIT.ok
}

function onlyChanged(report: Report, root: string, ref: string): Report {
  try {
    const { diff, untracked } = gitChanges(root, ref)
    return { ...report, findings: onChanged(report.findings, changedLines(diff, untracked)) }
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr ?? '').trim()
    throw new UsageProblem(`git cannot compare with \`${ref}\`${said === '' ? '' : `: ${said}`}. Fetch it first.`)
  }
}

/** Writes the repaired files, unless it is a trial, and prints the patch. */
async function repaired(
  report: Report,
  root: string,
  isWritten: boolean,
): Promise<{ text: string; left: readonly Finding[] }> {
  const { changes, findings } = await fixFindings(report.tree, report.findings)
  for (const { path, after } of isWritten ? changes : []) {
    const file = join(root, path)
    writeFileSync(file, encodeLike(readFileSync(file), after))
  }
  const left = report.findings.filter((finding) => !findings.includes(finding))
  const verb = isWritten ? 'Repaired' : 'Can repair'
  return { text: `${patchOf(changes)}${verb} ${findings.length} of ${report.findings.length} findings.\n`, left }
}

const RANK: Readonly<Record<Level, number>> = { info: 0, warning: 1, error: 2 }

function oneOf<T extends string>(value: string, allowed: readonly T[], name: string): T {
  const found = allowed.find((each) => each === value)
  if (found === undefined) throw new UsageProblem(`${name} must be one of ${allowed.join(', ')}, but is \`${value}\`.`)
  return found
}

/** One folder is audited as it is. Other paths choose findings; what they mean is still judged by all files. */
function scopeOf(positionals: readonly string[], folder: string): { root: string; isAsked: (path: string) => boolean } {
  for (const path of positionals) {
    if (!existsSync(resolve(folder, path))) throw new UsageProblem(`There is no file or folder \`${path}\`.`)
  }
  const [only] = positionals
  if (only === undefined) return { root: folder, isAsked: () => true }
  if (positionals.length === 1 && statSync(resolve(folder, only)).isDirectory())
    return { root: resolve(folder, only), isAsked: () => true }
  const asked = positionals.map((path) => relative(folder, resolve(folder, path)).replaceAll('\\', '/'))
  return {
    root: folder,
    isAsked: (path) => asked.some((each) => each === '' || path === each || path.startsWith(`${each}/`)),
  }
}

function reportOf(
  tree: FileTree,
  result: Audit,
  isAsked: (path: string) => boolean,
  baseline: string | null,
  isUpdate: boolean,
): { report: Report; all: readonly Finding[] } {
  const { kept, suppressed, notices } = applySuppressions(
    result.findings.filter(({ place }) => isAsked(place.path)),
    result.suppressions.filter(({ place }) => isAsked(place.path)),
  )
  const fingerprints = fingerprintsOf(tree, kept)
  const known =
    baseline !== null && existsSync(baseline) && !isUpdate
      ? readBaseline(readFileSync(baseline, 'utf8'))
      : new Map<string, string>()
  const compared = compare(kept, fingerprints, known)
  const report: Report = {
    tree,
    rules: RULES,
    schedules: result.project.all('schedule').filter(({ place }) => isAsked(place.path)),
    findings: isUpdate ? [] : compared.fresh,
    fingerprints,
    suppressed: suppressed.length,
    inBaseline: isUpdate ? kept.length : compared.known.length,
    unreadable: result.unreadable.filter(({ path }) => isAsked(path)),
    notices: [
      ...notices,
      ...compared.stale.map(
        (text) => `The baseline names ${text}, which is no longer found: run with --update-baseline.`,
      ),
    ],
  }
  return { report, all: kept }
}

function textOf(
  report: Report,
  result: Audit,
  format: (typeof FORMATS)[number],
  values: Values,
  version: string,
): string {
  if (values.checklist) return checklist(result.project, report.findings)
  if (values.migrate) return migration(report)
  switch (format) {
    case 'json':
      return jsonReport(report)
    case 'sarif':
      return sarifReport(report, version)
    case 'github':
      return githubReport(report)
    case 'html':
      return htmlReport(report, version)
    case 'text':
      return textReport(report, values.inventory === true)
  }
}

/** The version of this package, wherever it is installed. */
export function ownVersion(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8')) as { version: string }).version
}

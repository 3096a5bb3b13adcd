import { dirname, resolve } from 'node:path'
import { shellWord } from 'cronce/internal'
import type { Args } from '../args.ts'
import { importCrontab } from '../import/crontab-jobs.ts'
import { importIcal } from '../import/import-ical.ts'
import { type Imported, type ImportedJob, jobsOf } from '../import/imported.ts'
import { importK8s } from '../import/k8s-jobs.ts'
import { mergeCrontabs, serverNames } from '../import/merge-crontabs.ts'
import { importNodeCron } from '../import/node-cron/import-node-cron.ts'
import { type JobsFormat, renderJobs } from '../import/render-jobs.ts'
import { findingsText, summary } from '../import/report.ts'
import { isSystemCrontab, readSources, type Source } from '../import/sources.ts'
import { writeOut } from '../import/write-out.ts'
import type { Io } from '../io.ts'
import { localZone } from '../local-zone.ts'
import { note, printJson } from '../output.ts'
import { isCommonJs } from '../service/package-name.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const SOURCES = ['crontab', 'k8s', 'node-cron', 'ical'] as const
type SourceKind = Exclude<(typeof SOURCES)[number], 'node-cron' | 'ical'>

export const importCommand: Command = {
  operands: '<crontab|k8s|node-cron|ical> [FILE…]',
  examples: [
    ['crontab -l | cronce import crontab', 'the jobs of your crontab, as TypeScript'],
    ['cronce import crontab /etc/crontab --out jobs.ts', 'a system crontab, into a file for cronce start'],
    [
      'cronce import crontab web-1.txt web-2.txt --out jobs.ts',
      'the crontabs of two servers: a line of both is one job',
    ],
    ['cronce import k8s cronjobs/*.yaml --out jobs.json', 'the CronJobs of Kubernetes, as JSON'],
    ['cronce import node-cron src/', 'names for the tasks in your code, and the edits that make each run once'],
    ['cronce import node-cron src/ --write', 'make these edits'],
    ['cronce import crontab crontab.txt --json', 'the jobs and the report, for a program'],
    ['cronce import ical holidays.ics --name de-bank-holidays --closed-days "SAT SUN"', 'a calendar of closed days'],
  ],
  about: [
    'What does not mean quite the same, or does not translate, is reported on stderr; nothing of the latter is dropped: it is kept',
    'as a comment, and the exit code is 1. crontab reads stdin without FILE, or with -.',
    'Of several crontabs, one for each server, lines that are the same become one job, which runs on one server; each such line is reported.',
    'With --hosts each, every job runs on the servers that had its line.',
    'Lines under another PATH, SHELL, HOME or CRON_TZ are not the same, and become a job each; --join makes one job of them.',
    'node-cron prints a plan and changes nothing without --write: every task gets a name and distributed: true. Exit code 1 if some',
    'need you. It reads JavaScript and TypeScript without JSX, and follows imports of node-cron, not functions that wrap it.',
  ].join('\n'),
  flags: {
    out: {
      type: 'string',
      value: 'FILE',
      help: 'Write there, in the form that its ending says: .ts, .mts, .js, .mjs, .json',
    },
    format: { type: 'string', value: 'FORM', choices: ['ts', 'json'], help: 'Without --out: ts (default) or json' },
    force: { type: 'boolean', help: 'Replace the file of --out' },
    'dry-run': { type: 'boolean', help: 'Print what would be written, and write nothing' },
    write: { type: 'boolean', help: 'With node-cron: make the edits' },
    'drop-in': { type: 'boolean', help: 'With node-cron: import cronce/node-cron instead, which needs names only' },
    system: {
      type: 'boolean',
      help: 'With crontab: lines have a user before the command (known of /etc/crontab, /etc/cron.d)',
    },
    user: { type: 'string', value: 'NAME', help: 'With crontab: user that cronce start will run as (default root)' },
    tz: {
      type: 'string',
      value: 'ZONE',
      help: "With crontab: zone of lines without CRON_TZ (default: this machine's)",
    },
    cwd: { type: 'string', value: 'DIR', help: 'With crontab: folder in which commands start, if it sets no HOME' },
    hosts: {
      type: 'string',
      value: 'each',
      choices: ['each'],
      help: "With crontab: of several servers, each job runs where its line did (hosts: 'each', on)",
    },
    join: {
      type: 'boolean',
      help: 'With crontab: of several servers, one job for lines that differ only in PATH, SHELL, HOME, CRON_TZ and the like; those of the first count',
    },
    name: { type: 'string', value: 'NAME', help: 'With ical: name of the calendar (default holidays)' },
    'closed-days': { type: 'string', value: 'DAYS', help: 'With ical: further closed days, such as "SAT SUN"' },
    'like-cron': { type: 'boolean', help: "With crontab: overlap 'allow' and misfire 'skip', as cron does it" },
    json: { type: 'boolean', help: 'Print one JSON object: the jobs and the report' },
  },
  run: runImport,
}

async function runImport(args: Args, io: Io): Promise<number> {
  const [kind, ...files] = args.positionals
  const source = SOURCES.find((known) => known === kind)
  if (source === undefined) {
    const hint = `Choose one of: ${SOURCES.join(', ')}.`
    if (kind === undefined) throw new UsageError('Import from what?', hint)
    throw new UsageError(`"${kind}" can't be imported.${suggestion(kind, SOURCES)}`, hint)
  }
  refuseForeignFlags(source, args)
  if (source === 'node-cron') return importNodeCron(files, args, io)
  if (source === 'ical') return importIcal(files, args, io)
  const format = readFormat(args)
  const sources = await readSources(source, files, io)
  const imported = await readImported(source, sources, args, io)
  return tell({ imported, text: renderJobs(imported, format), isOneFile: sources.length === 1 }, args, io)
}

function readFormat(args: Args): JobsFormat {
  const out = args.text('out')
  const named = args.text('format') as JobsFormat | undefined
  if (out === undefined) return named ?? 'ts'
  const [, extension] = /\.(ts|mts|js|mjs|json)$/.exec(out) ?? []
  if (extension === undefined) {
    throw new UsageError(`--out ${out} does not say in which form.`, 'End it with .ts, .mts, .js, .mjs or .json.')
  }
  const format = extension === 'json' ? 'json' : 'ts'
  if (named === undefined || named === format) return format
  throw new UsageError(`--format ${named} contradicts --out ${out}.`, 'Leave out --format.')
}

const OWN_FLAGS: Readonly<Record<string, readonly string[]>> = {
  crontab: ['system', 'user', 'tz', 'cwd', 'hosts', 'join', 'like-cron'],
  'node-cron': ['write', 'drop-in'],
  ical: ['name', 'closed-days'],
}

function refuseForeignFlags(source: (typeof SOURCES)[number], args: Args): void {
  const foreign = Object.entries(OWN_FLAGS).filter(([owner]) => owner !== source)
  for (const [owner, flags] of foreign) {
    const flag = flags.find((name) => args.has(name))
    if (flag !== undefined) throw new UsageError(`--${flag} is about ${owner}.`, 'Leave it out.')
  }
  if (source === 'ical' && args.has('format')) throw new UsageError('--format is for jobs.', 'Leave it out.')
  const file = ['out', 'format', 'force'].find((name) => args.has(name))
  if (source === 'node-cron' && file !== undefined) {
    throw new UsageError(`--${file} is for jobs, and node-cron's tasks stay where they are.`, 'Leave it out.')
  }
}

async function readImported(source: SourceKind, sources: readonly Source[], args: Args, io: Io): Promise<Imported> {
  if (source === 'k8s') return importK8s(sources, io.now)
  const servers = serverNames(sources.map(({ file }) => file))
  const crontabs = sources.map(({ file, text }, index) => {
    const server = sources.length === 1 ? {} : { server: servers[index]! }
    return importCrontab(text, {
      file,
      ...server,
      isSystem: args.has('system') || isSystemCrontab(file),
      // Cron knows no zone but the machine's, so that is what its lines mean.
      tz: args.text('tz') ?? localZone(io.env),
      cwd: args.text('cwd') ?? null,
      user: args.text('user') ?? 'root',
      likeCron: args.has('like-cron'),
    })
  })
  const options = { keepsHosts: args.has('hosts'), join: args.has('join') }
  return crontabs.length === 1 ? crontabs[0]! : mergeCrontabs(crontabs, servers, options)
}

interface Result {
  readonly imported: Imported
  /** The file of the jobs. */
  readonly text: string
  readonly isOneFile: boolean
}

async function tell({ imported, text, isOneFile }: Result, args: Args, io: Io): Promise<number> {
  const out = args.text('out')
  const isDry = args.has('dry-run')
  const isJson = args.has('json')
  const written = out === undefined || isDry ? null : await writeOut(out, text, { force: args.has('force') }, io)
  const lost = imported.findings.some(({ level }) => level === 'lost')
  if (isJson) {
    printJson(
      {
        items: jobsOf(imported).map(jobJson),
        findings: imported.findings,
        comments: imported.items.flatMap((item) => (item.kind === 'comment' ? item.lines : [])),
        written,
      },
      io,
    )
    return lost ? 1 : 0
  }
  if (written === null) io.out(text)
  io.err(findingsText(imported.findings, isOneFile, io))
  note(`${summary(imported)}${sayWhere(written, out, isDry, io)}`, io)
  return lost ? 1 : 0
}

function jobJson({ name, place, others = [], comments, options }: ImportedJob): object {
  return { name, place, places: [place, ...others], comments, options }
}

function sayWhere(written: string | null, out: string | undefined, isDry: boolean, { cwd }: Io): string {
  if (written !== null && /\.[jt]s$/.test(written) && isCommonJs(dirname(resolve(cwd, written)))) {
    const renamed = written.replace(/\.([jt]s)$/, '.m$1')
    return ` Written to ${written}, which cronce start can't load: package.json says "type": "commonjs". Rename it to ${renamed}, or run npm pkg set type=module.`
  }
  if (written !== null) return ` Written to ${written}: try cronce start ${shellWord(written)}.`
  return isDry && out !== undefined ? ` Nothing was written; without --dry-run it would be ${out}.` : ''
}

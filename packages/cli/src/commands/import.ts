import type { Args } from '../args.ts'
import { importCrontab } from '../import/crontab-jobs.ts'
import { type Imported, type ImportedJob, jobsOf } from '../import/imported.ts'
import { importK8s } from '../import/k8s-jobs.ts'
import { mergeCrontabs, serverNames } from '../import/merge-crontabs.ts'
import { type JobsFormat, renderJobs } from '../import/render-jobs.ts'
import { findingsText, summary } from '../import/report.ts'
import { isSystemCrontab, readSources, type Source } from '../import/sources.ts'
import { writeOut } from '../import/write-out.ts'
import type { Io } from '../io.ts'
import { localZone } from '../local-zone.ts'
import { note, printJson } from '../output.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const SOURCES = ['crontab', 'k8s'] as const

export const importCommand: Command = {
  operands: '<crontab|k8s> [FILE…]',
  examples: [
    ['crontab -l | cronce import crontab', 'the jobs of your crontab, as TypeScript'],
    ['cronce import crontab /etc/crontab --out jobs.ts', 'a system crontab, into a file for cronce start'],
    [
      'cronce import crontab web-1.txt web-2.txt --out jobs.ts',
      'the crontabs of two servers: a line of both is one job',
    ],
    ['cronce import k8s cronjobs/*.yaml --out jobs.json', 'CronJobs of Kubernetes, as JSON'],
    ['cronce import crontab crontab.txt --json', 'the jobs and all that is worth knowing, for a program'],
  ],
  about: [
    'What does not mean quite the same, or does not translate, is told on stderr; of the latter nothing is dropped: it is kept',
    'as a comment, and the exit code is 1. crontab reads stdin without FILE, or with -.',
    'Of several crontabs, one for each server, lines that are the same become one job, which runs on one server: each is told.',
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
    system: {
      type: 'boolean',
      help: 'crontab: lines have a user before the command (known of /etc/crontab, /etc/cron.d)',
    },
    user: { type: 'string', value: 'NAME', help: 'crontab: who cronce start will run as (default root)' },
    tz: { type: 'string', value: 'ZONE', help: "crontab: zone of lines without CRON_TZ (default: this machine's)" },
    cwd: { type: 'string', value: 'DIR', help: 'crontab: where commands start, if it sets no HOME' },
    'like-cron': { type: 'boolean', help: "crontab: overlap 'allow' and misfire 'skip', as cron does it" },
    json: { type: 'boolean', help: 'Print one JSON object: jobs, and all that is worth knowing' },
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
  const format = readFormat(args)
  refuseForeignFlags(source, args)
  const imported = await readImported(source, await readSources(source, files, io), args, io)
  return tell(imported, renderJobs(imported, format), args, io)
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

function refuseForeignFlags(source: (typeof SOURCES)[number], args: Args): void {
  if (source === 'crontab') return
  const flag = ['system', 'user', 'tz', 'cwd', 'like-cron'].find((name) => args.has(name))
  if (flag !== undefined) throw new UsageError(`--${flag} is about crontabs.`, `Leave it out.`)
}

async function readImported(
  source: (typeof SOURCES)[number],
  sources: readonly Source[],
  args: Args,
  io: Io,
): Promise<Imported> {
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
  return crontabs.length === 1 ? crontabs[0]! : mergeCrontabs(crontabs, servers)
}

async function tell(imported: Imported, text: string, args: Args, io: Io): Promise<number> {
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
  io.err(findingsText(imported.findings, io))
  note(`${summary(imported)}${sayWhere(written, out, isDry)}`, io)
  return lost ? 1 : 0
}

function jobJson({ name, place, others = [], comments, options }: ImportedJob): object {
  return { name, place, places: [place, ...others], comments, options }
}

function sayWhere(written: string | null, out: string | undefined, isDry: boolean): string {
  if (written !== null) return ` Written to ${written}: try cronce start ${written}.`
  return isDry && out !== undefined ? ` Nothing was written; without --dry-run it would be ${out}.` : ''
}

import { dirname, resolve } from 'node:path'
import type { ScheduleView } from 'cronce'
import type { Args } from '../args.ts'
import { loadConfig } from '../config.ts'
import { readDurationText } from '../duration-text.ts'
import { renderCrontab } from '../export/crontab.ts'
import type { ExportedJob, ExportFinding, Rendered } from '../export/exported.ts'
import { MOST_EVENTS, renderIcal } from '../export/ical.ts'
import { renderCronJobs } from '../export/k8s-cronjobs.ts'
import { renderDeployment } from '../export/k8s-deployment.ts'
import { type K8sOptions, secretComment } from '../export/k8s-parts.ts'
import { programPath } from '../export/program-path.ts'
import { exportedJob, readExportedJobs } from '../export/read-jobs.ts'
import { writeOut } from '../import/write-out.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { wholeNumber } from '../operands.ts'
import { note, printJson, table } from '../output.ts'
import { type Jobs, loadJobsFile, readJobs } from '../service/load-jobs.ts'
import { suggestion, UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

const FORMS = ['k8s', 'crontab', 'ical'] as const
const NO_IMAGE = 'IMAGE-WITH-CRONCE-AND-THE-COMMANDS'
const DRAIN_MS = 30_000
const DAY_MS = 86_400_000

export const exportCommand: Command = {
  operands: '<k8s|crontab|ical> [FILE|SCHEDULE…]',
  examples: [
    ['cronce export k8s jobs.ts --image shop/jobs:1', 'a CronJob for each job that is a command'],
    ['cronce export k8s jobs.ts --kind deployment --image shop/jobs:1', 'cronce start as a Deployment, for all jobs'],
    ['cronce export crontab jobs.json', 'lines for the crontabs of several machines'],
    ['cronce export crontab --store env:CRONCE_STORE', 'what the schedules of a store would be'],
    [
      'cronce export ical rent payroll --days 90 --out fires.ics',
      'the coming fires of two schedules, for a calendar program',
    ],
  ],
  about: [
    'The result runs cronce exec, which claims a fire in the store: the same lines in several places run it once.',
    'Choose one way for a job: CronJobs, or the Deployment, not both. Without FILE the jobs are those of the configuration, or',
    'with --store the schedules of a store. What has no counterpart is reported on stderr and kept as a comment; then the exit code is 1.',
  ].join('\n'),
  flags: {
    kind: {
      type: 'string',
      value: 'KIND',
      choices: ['cronjob', 'deployment'],
      help: 'With k8s: cronjob (default) or deployment',
    },
    image: { type: 'string', value: 'IMAGE', help: 'With k8s: the image, with cronce and everything the jobs need' },
    secret: {
      type: 'string',
      value: 'NAME',
      help: 'With k8s: the Secret with the URL of the store (default cronce-store)',
    },
    name: { type: 'string', value: 'NAME', help: 'With k8s: name of the Deployment (default cronce)' },
    replicas: { type: 'string', value: 'N', help: 'With k8s: number of pods of the Deployment (default 2)' },
    drain: {
      type: 'string',
      value: 'TIME',
      help: 'With k8s: time that runs have to finish when a pod stops (default: configuration, 30s)',
    },
    days: { type: 'string', value: 'N', help: 'With ical: fires of that number of days, 1 to 366 (default 30)' },
    out: { type: 'string', value: 'FILE', help: 'Write there' },
    force: { type: 'boolean', help: 'Replace the file of --out' },
    'dry-run': { type: 'boolean', help: 'Print what would be written, and write nothing' },
    json: { type: 'boolean', help: 'Print one JSON object: the text and the report' },
    ...STORE_FLAGS,
  },
  run: runExport,
}

async function runExport(args: Args, io: Io): Promise<number> {
  const [form, file, ...more] = args.positionals
  const chosen = FORMS.find((known) => known === form)
  if (chosen === undefined) {
    const hint = `Choose one of: ${FORMS.join(', ')}.`
    if (form === undefined) throw new UsageError('Export to what?', hint)
    throw new UsageError(`There is no export to "${form}".${suggestion(form, FORMS)}`, hint)
  }
  if (chosen === 'ical') return exportIcal(args.positionals.slice(1), args, io)
  if (more.length > 0) throw new UsageError(`One file with jobs, not "${more[0]}" as well.`, 'Export them one by one.')
  const jobs = await readJobsFor(file, args, io)
  return tell(await render(chosen, jobs, file, args, io), args, io)
}

/** The coming fires of schedules of a store: of those that are named, or of all. */
function exportIcal(names: readonly string[], args: Args, io: Io): Promise<number> {
  const days = wholeNumber(args, 'days', { min: 1, max: 366, otherwise: 30 })
  return withClient(args, io, async (client, { now }) => {
    const schedules: ScheduleView[] = []
    for (const name of names) schedules.push(await client.schedules.get(name))
    if (names.length === 0) for await (const view of client.schedules.all({})) schedules.push(view)
    const namespace = args.text('namespace') ?? 'default'
    const { text, events, cut } = renderIcal(schedules, { now, to: now + days * DAY_MS, namespace })
    for (const name of cut) note(`${name} has more than ${MOST_EVENTS} fires; the first are in it.`, io)
    return tell({ text, findings: [], count: events }, args, io, 'event')
  })
}

/** Those of a file, of the configuration, or of a store. */
async function readJobsFor(file: string | undefined, args: Args, io: Io): Promise<ExportedJob[]> {
  const found = await findJobs(file, args, io)
  if (found !== null) return readExportedJobs(found)
  return withClient(args, io, async (client) => {
    const jobs: ExportedJob[] = []
    for await (const view of client.schedules.all({})) {
      const what = view.app === null ? `job ${view.job}` : `job ${view.job}, in the code of ${view.app}`
      if (view.state === 'active' || view.state === 'paused') jobs.push(exportedJob(view, { kind: 'other', what }))
    }
    return jobs
  })
}

async function findJobs(file: string | undefined, args: Args, io: Io): Promise<Jobs | null> {
  if (file !== undefined) return loadJobsFile(resolve(io.cwd, file))
  if (args.has('store')) return null
  const { config, file: configFile } = await loadConfig(args, io)
  const folder = configFile === null ? io.cwd : dirname(configFile)
  if (typeof config.jobs === 'string') return loadJobsFile(resolve(folder, config.jobs))
  if (config.jobs !== undefined) return readJobs(config.jobs, `${configFile} (option jobs)`, folder)
  throw new UsageError('Which jobs?', 'Name the file, such as jobs.ts, or a store with --store.')
}

async function render(
  form: Exclude<(typeof FORMS)[number], 'ical'>,
  jobs: readonly ExportedJob[],
  file: string | undefined,
  args: Args,
  io: Io,
): Promise<Rendered> {
  const { config } = await loadConfig(args, io)
  if (form === 'crontab') return renderCrontab(jobs, { path: programPath(io.env) })
  const options: K8sOptions = {
    image: args.text('image') ?? NO_IMAGE,
    secret: args.text('secret') ?? 'cronce-store',
    namespace: args.text('namespace') ?? config.namespace ?? null,
    now: io.now,
  }
  if (!args.has('image')) note('No --image was given: put in one that has cronce and what the jobs run.', io)
  const rendered =
    args.text('kind') === 'deployment'
      ? renderDeployment({
          ...options,
          name: args.text('name') ?? 'cronce',
          replicas: wholeNumber(args, 'replicas', { min: 1, max: 1_000, otherwise: 2 }),
          drainMs: drainOf(args.text('drain') ?? config.drain),
          jobsFile: file ?? null,
          count: jobs.length,
        })
      : renderCronJobs(jobs, options)
  return { ...rendered, text: secretComment(options) + rendered.text }
}

function drainOf(given: string | number | undefined): number {
  return given === undefined ? DRAIN_MS : readDurationText(String(given), 'drain')
}

async function tell({ text, findings, count }: Rendered, args: Args, io: Io, noun = 'job'): Promise<number> {
  const out = args.text('out')
  const isDry = args.has('dry-run')
  const written = out === undefined || isDry ? null : await writeOut(out, text, { force: args.has('force') }, io)
  const code = findings.some(({ level }) => level === 'lost') ? 1 : 0
  if (args.has('json')) {
    printJson({ text, count, findings, written }, io)
    return code
  }
  if (written === null) io.out(text)
  if (findings.length > 0) io.err(table(findings, COLUMNS, true, { ...io, paint: io.paintErr }))
  if (written !== null) note(`${count} ${count === 1 ? noun : `${noun}s`} written to ${written}.`, io)
  else if (isDry && out !== undefined) note(`Nothing was written; without --dry-run it would be ${out}.`, io)
  return code
}

const COLUMNS = [
  { title: 'JOB', value: ({ job }: ExportFinding) => job },
  {
    title: 'WHAT',
    value: ({ what }: ExportFinding) => what,
    color: ({ level }: ExportFinding) => (level === 'lost' ? ('red' as const) : ('yellow' as const)),
  },
  { title: 'WHY', value: ({ why }: ExportFinding) => why },
  { title: 'WHAT TO DO', value: ({ todo }: ExportFinding) => todo },
]

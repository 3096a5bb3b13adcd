import { CronceError, type CronTrigger, cron } from 'cronce/cron'
import { differingClockChange, longestGapDays } from '../k8s-times.ts'
import { envOfCommand } from '../service/exec/command-env.ts'
import { isUtc } from '../zone.ts'
import { unwrapExecWords } from './exec-line.ts'
import type { Finding, Imported, ImportedItem, ImportedJob, JobRecord } from './imported.ts'
import { uniqueNames } from './job-names.ts'
import { readContainer } from './k8s-container.ts'
import { type Manifest, type Report, readManifests } from './k8s-documents.ts'
import { unknownFields } from './k8s-fields.ts'
import { readPolicies } from './k8s-policies.ts'

/** The CronJobs of files as jobs. Everything about them that has no counterpart, or means something else here, is reported. */
export function importK8s(files: readonly { readonly file: string; readonly text: string }[], now: number): Imported {
  const items: ImportedItem[] = []
  const findings: Finding[] = []
  const nameFor = uniqueNames()
  const report: Report = (at, finding) => findings.push({ place: at.place, ...finding })

  for (const { file, text } of files) {
    const { found, findings: broken } = readManifests(text, file)
    findings.push(...broken)
    for (const { place, why } of broken) {
      items.push({ kind: 'comment', lines: [`not translated (${file}:${place.line}): no YAML: ${why}`] })
    }
    for (const { manifest, comments } of found) {
      // Between two lines of dashes may stand nothing, or a comment.
      if (manifest.value === undefined || manifest.value === null) {
        if (comments.length > 0) items.push({ kind: 'comment', lines: comments })
        continue
      }
      const kind = manifest.at('kind').text
      if (kind !== 'CronJob') {
        const what = kind === undefined ? 'no kind' : sayKind(kind, manifest)
        report(manifest, { level: 'changed', what, why: 'it is not a CronJob, and was left out', todo: 'nothing' })
        continue
      }
      const job = readCronJob(manifest, now, report)
      if (job === null) {
        const where = `${file}:${manifest.place.line}`
        items.push({ kind: 'comment', lines: [...comments, `not translated (${where}): ${sayKind(kind, manifest)}`] })
      } else
        items.push({ kind: 'job', job: { ...job, comments: [...comments, ...job.comments], name: nameFor(job.name) } })
    }
  }
  return { items, findings: inOrder(findings, files) }
}

/** In the order of the files. */
function inOrder(findings: readonly Finding[], files: readonly { readonly file: string }[]): Finding[] {
  const names = files.map(({ file }) => file)
  const rank = ({ place: { file, line, column = 0 } }: Finding) => [names.indexOf(file), line, column] as const
  return findings.toSorted((a, b) => {
    const [x, y] = [rank(a), rank(b)]
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2]
  })
}

function sayKind(kind: string, manifest: Manifest): string {
  return `${kind} ${manifest.at('metadata', 'name').text ?? 'without a name'}`
}

function readCronJob(manifest: Manifest, now: number, report: Report): ImportedJob | null {
  const name = readName(manifest, report)
  if (name === null) return null
  const spec = manifest.at('spec')
  const trigger = readTrigger(manifest, now, report)
  const target = readContainer(spec.at('jobTemplate', 'spec', 'template', 'spec'), report)
  for (const [at, finding] of unknownFields(manifest)) report(at, finding)
  if (trigger === null || target === null) return null

  const wrapped = Array.isArray(target.command) ? unwrapExecWords(target.command) : null
  const policies = readPolicies(spec, {
    isOurs: wrapped !== null,
    gapDays: longestGapDays(trigger.due, now),
    report,
  })
  const options: JobRecord = {
    ...trigger.options,
    ...target,
    ...policies,
    ...wrapped?.options,
    ...(wrapped === null || target.env === undefined ? {} : { env: envOfCommand(target.env) }),
    ...togetherWith(policies, wrapped?.options),
  }
  return { name: wrapped?.name ?? name, comments: trigger.comments, place: manifest.place, options }
}

/** The name of a CronJob of a known version. `null`: the manifest has none, or is of another version, which is reported. */
function readName(manifest: Manifest, report: Report): string | null {
  const apiVersion = manifest.at('apiVersion')
  if (!/^batch\/(v1|v1beta1|v2alpha1)$/.test(apiVersion.text ?? '')) {
    report(apiVersion.value === undefined ? manifest : apiVersion, {
      level: 'lost',
      what: `apiVersion ${apiVersion.text ?? 'is missing'}`,
      why: 'a CronJob is of batch/v1',
      todo: 'put it right',
    })
    return null
  }
  const name = manifest.at('metadata', 'name').text
  if (name !== undefined && name !== '') return name
  const why = 'it is what the job is known by'
  report(manifest, { level: 'lost', what: 'a CronJob without a name', why, todo: 'give it metadata.name' })
  return null
}

/** Of a manifest that we wrote: some of it are options of `cronce exec`, some fields of Kubernetes. */
function togetherWith(policies: JobRecord, wrapped: JobRecord | undefined): Pick<JobRecord, 'retry' | 'overlap'> {
  const { retry, overlap } = policies
  const attempts = wrapped?.retry
  return {
    ...(typeof attempts === 'number' && typeof retry === 'object' ? { retry: { attempts, ...retry } } : {}),
    // There the later one waits until Kubernetes has ended the earlier.
    ...(overlap === 'replace' ? { overlap } : {}),
  }
}

interface Trigger {
  readonly due: ReturnType<typeof cron>
  readonly options: JobRecord
  readonly comments: readonly string[]
}

function readTrigger(manifest: Manifest, now: number, report: Report): Trigger | null {
  const spec = manifest.at('spec')
  const at = spec.at('schedule')
  const expression = readExpression(spec, report)
  if (expression === null) return null
  const { bare, zone, due, isDefault } = expression
  const options: JobRecord =
    due.kind === 'every'
      ? readEvery(bare, manifest, report)
      : { cron: bare, ...zone, ...(isDefault ? {} : { dialect: 'kubernetes' }) }
  if (due.kind === 'cron') reportClockChange(at, due, now, report)
  if (spec.at('suspend').value !== true) return { due, options, comments: [] }
  report(spec.at('suspend'), {
    level: 'changed',
    what: 'suspend: true',
    why: `a job can't be declared paused, so it has no schedule, and runs when it is triggered`,
    todo: `add ${JSON.stringify(options)} when it is to run again`,
  })
  return { due, options: {}, comments: [`suspended: ${JSON.stringify(options)}`] }
}

interface Expression {
  /** As written, without the zone. */
  readonly bare: string
  readonly zone: { readonly tz?: string }
  readonly due: ReturnType<typeof cron>
  /** It means the same in cronce's own dialect. */
  readonly isDefault: boolean
}

/** `null`: it does not translate, which is reported. */
function readExpression(spec: Manifest, report: Report): Expression | null {
  const at = spec.at('schedule')
  const lost = (what: string, why: string, todo: string): null => {
    report(at.value === undefined ? spec : at, { level: 'lost', what, why, todo })
    return null
  }
  if (at.text === undefined) return lost('no schedule', 'a CronJob has spec.schedule, a text', 'put it right')
  const [, prefix, inline, bare = at.text.trim()] = /^((?:CRON_)?TZ=(\S+))\s+(.*)$/.exec(at.text.trim()) ?? []
  const { text: timeZone } = spec.at('timeZone')
  if (prefix !== undefined && timeZone !== undefined) {
    return lost(`${prefix} and timeZone`, 'Kubernetes rejects a CronJob with both', 'remove one of them')
  }
  const tz = timeZone ?? inline
  const zone = tz === undefined || isUtc(tz) ? {} : { tz }
  try {
    const due = cron(bare, { dialect: 'kubernetes', ...zone })
    const isDefault = JSON.stringify(fieldsOf(due)) === JSON.stringify(fieldsOf(cron(bare, zone)))
    return due.never ? lost(bare, 'it never fires', 'look at the day and the month') : { bare, zone, due, isDefault }
  } catch (error) {
    if (!(error instanceof CronceError)) throw error
    return lost(bare, error.message.replace(/\.$/, ''), (error.hint ?? 'put it right').replace(/\.$/, ''))
  }
}

/** `@every` counts from the last time that the CronJob was due; before that, from its creation. cronce counts from 1970. */
function readEvery(expression: string, manifest: Manifest, report: Report): JobRecord {
  const interval = expression.replace(/^@every\s+/i, '')
  const anchor = manifest.at('status', 'lastScheduleTime').text ?? manifest.at('metadata', 'creationTimestamp').text
  if (anchor !== undefined && !Number.isNaN(Date.parse(anchor))) return { every: { interval, anchor } }
  report(manifest.at('spec', 'schedule'), {
    level: 'changed',
    what: expression,
    why: 'Kubernetes counts from when the CronJob was made, cronce from 1970-01-01T00:00:00Z',
    todo: `write every: { interval: '${interval}', anchor } with a time at which it was due, or import kubectl get -o yaml`,
  })
  return { every: interval }
}

function reportClockChange(at: Manifest, due: CronTrigger, now: number, report: Report): void {
  const change = differingClockChange(due, now)
  if (change === null) return
  report(at, {
    level: 'changed',
    what: 'a clock change',
    why: `Kubernetes skips local times that do not exist and runs twice at those that come twice, next on ${change}; cronce runs once`,
    todo: "write dst: 'wall' to keep what Kubernetes does",
  })
}

function fieldsOf(trigger: ReturnType<typeof cron>): unknown {
  return trigger.kind === 'cron' ? trigger.normalized : trigger.everyMs
}

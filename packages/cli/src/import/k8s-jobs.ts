import { CronceError, cron } from 'cronce/cron'
import { envOfCommand } from '../service/exec/command-env.ts'
import { isUtc } from '../zone.ts'
import { unwrapExecWords } from './exec-line.ts'
import type { Finding, Imported, ImportedItem, ImportedJob, JobRecord } from './imported.ts'
import { uniqueNames } from './job-names.ts'
import { readContainer } from './k8s-container.ts'
import { type Manifest, readManifests } from './k8s-documents.ts'
import { unknownFields } from './k8s-fields.ts'
import { readPolicies } from './k8s-policies.ts'

export type Report = (at: Manifest, finding: Omit<Finding, 'place'>) => void

/** The CronJobs of files as jobs. Everything about them that has no counterpart is told. */
export function importK8s(files: readonly { readonly file: string; readonly text: string }[]): Imported {
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
        report(manifest, { level: 'changed', what, why: 'it is no CronJob, and was left out', todo: 'nothing' })
        continue
      }
      const job = readCronJob(manifest, report)
      if (job === null) {
        const where = `${file}:${manifest.place.line}`
        items.push({ kind: 'comment', lines: [...comments, `not translated (${where}): ${sayKind(kind, manifest)}`] })
      } else
        items.push({ kind: 'job', job: { ...job, comments: [...comments, ...job.comments], name: nameFor(job.name) } })
    }
  }
  return { items, findings: inOrder(findings, files) }
}

/** As somebody finds them who reads the files. */
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

function readCronJob(manifest: Manifest, report: Report): ImportedJob | null {
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
  if (name === undefined || name === '') {
    const why = 'it is what the job is known by'
    report(manifest, { level: 'lost', what: 'a CronJob without a name', why, todo: 'give it metadata.name' })
    return null
  }
  const spec = manifest.at('spec')
  const trigger = readTrigger(spec, report)
  const target = readContainer(spec.at('jobTemplate', 'spec', 'template', 'spec'), report)
  for (const [at, finding] of unknownFields(manifest)) report(at, finding)
  if (trigger === null || target === null) return null

  const wrapped = Array.isArray(target.command) ? unwrapExecWords(target.command) : null
  const policies = readPolicies(spec, { isOurs: wrapped !== null })
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

/** Of a manifest that we wrote: what is told partly to `cronce exec`, partly to Kubernetes. */
function togetherWith(policies: JobRecord, wrapped: JobRecord | undefined): Pick<JobRecord, 'retry' | 'overlap'> {
  const { retry, overlap } = policies
  const attempts = wrapped?.retry
  return {
    ...(typeof attempts === 'number' && typeof retry === 'object' ? { retry: { attempts, ...retry } } : {}),
    // There the later one waits until Kubernetes has ended the earlier.
    ...(overlap === 'replace' ? { overlap } : {}),
  }
}

type Trigger = { readonly options: JobRecord; readonly comments: readonly string[] }

function readTrigger(spec: Manifest, report: Report): Trigger | null {
  const at = spec.at('schedule')
  const lost = (what: string, why: string, todo: string): null => {
    report(at.value === undefined ? spec : at, { level: 'lost', what, why, todo })
    return null
  }
  if (at.text === undefined) return lost('no schedule', 'a CronJob has spec.schedule, a text', 'put it right')
  const [, prefix, bare = at.text.trim()] = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(at.text.trim()) ?? []
  const tz = spec.at('timeZone').text ?? prefix
  const zone = tz === undefined || isUtc(tz) ? {} : { tz }
  let read: ReturnType<typeof cron>
  let isDefault = false
  try {
    read = cron(bare, { dialect: 'kubernetes', ...zone })
    isDefault = JSON.stringify(fieldsOf(read)) === JSON.stringify(fieldsOf(cron(bare, zone)))
  } catch (error) {
    if (!(error instanceof CronceError)) throw error
    return lost(bare, error.message.replace(/\.$/, ''), (error.hint ?? 'put it right').replace(/\.$/, ''))
  }
  if (read.never) return lost(bare, 'it never fires', 'look at the day and the month')
  const every = /^@every\s+(\S+)$/i.exec(bare)?.[1]
  const options: JobRecord =
    every === undefined ? { cron: bare, ...zone, ...(isDefault ? {} : { dialect: 'kubernetes' }) } : { every }
  if (spec.at('suspend').value !== true) return { options, comments: [] }
  report(spec.at('suspend'), {
    level: 'changed',
    what: 'suspend: true',
    why: `a job can't be declared paused, so it has no schedule, and runs when it is triggered`,
    todo: `add ${JSON.stringify(options)} when it is to run again`,
  })
  return { options: {}, comments: [`suspended: ${JSON.stringify(options)}`] }
}

function fieldsOf(trigger: ReturnType<typeof cron>): unknown {
  return trigger.kind === 'cron' ? trigger.normalized : trigger.everyMs
}

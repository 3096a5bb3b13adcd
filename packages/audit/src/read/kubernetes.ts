import type { FileTree } from '../discover/tree.ts'
import type { CronJob, Setting } from '../facts/cron-job.ts'
import type { Fact } from '../facts/fact.ts'
import { NO_GUARD, PLATFORM_ZONE, type Schedule, type When, type Zone } from '../facts/schedule.ts'
import { workloadFacts } from './kubernetes-workload.ts'
import type { Reader } from './reader.ts'
import { commandWords } from './words.ts'
import type { YamlNode } from './yaml/node.ts'
import { outline, type YamlDocument } from './yaml/outline.ts'
import { at, child, children, hasHole, isOpen, literal, nodes, words } from './yaml/query.ts'

export const MANIFEST = /\.(?:ya?ml|tpl)(?:\.(?:j2|tmpl|tpl|template|dist|example))?$/
const KINDS = /\bkind:\s*["']?(?:CronJob|Deployment|StatefulSet|DaemonSet|ReplicaSet|Rollout)\b/

export const kubernetesReader: Reader = {
  name: 'Kubernetes',
  reads: (path) => MANIFEST.test(path) && !path.includes('.github/workflows/'),
  mayHoldFacts: (text) => KINDS.test(text),
  read: ({ path, text }, tree) => outline(text).flatMap((document) => documentFacts(path, document, tree)),
}

function documentFacts(path: string, document: YamlDocument, tree: FileTree): readonly Fact[] {
  const facts: Fact[] = []
  for (const node of nodes(document)) {
    const kind = literal(child(document, node, 'kind'))
    if (kind === null) continue
    if (kind === 'CronJob') facts.push(...cronJobFacts(path, document, node))
    else facts.push(...workloadFacts(path, document, node, kind, tree))
  }
  return facts
}

/** A patch of a CronJob that leaves out its schedule or its template says nothing about what is missing. */
function cronJobFacts(path: string, document: YamlDocument, object: YamlNode): readonly Fact[] {
  const spec = child(document, object, 'spec')
  const schedule = child(document, spec, 'schedule')
  const template = child(document, spec, 'jobTemplate')
  const apiVersion = apiVersionOf(document, object)
  if (spec === undefined || schedule === undefined || template === undefined) return []
  if (apiVersion.state === 'missing') return []
  if (apiVersion.state === 'literal' && !apiVersion.value.startsWith('batch/')) return []
  const jobSpec = child(document, template, 'spec')
  const podSpec = at(document, jobSpec, 'template', 'spec')
  const of = (node: YamlNode | undefined, key: string) => settingOf(document, node, key)
  const cronJob: CronJob = {
    kind: 'cron-job',
    place: { path, line: schedule.line },
    name: literal(at(document, object, 'metadata', 'name')),
    apiVersion,
    schedule: of(spec, 'schedule'),
    timeZone: of(spec, 'timeZone'),
    concurrencyPolicy: of(spec, 'concurrencyPolicy'),
    startingDeadlineSeconds: of(spec, 'startingDeadlineSeconds'),
    activeDeadlineSeconds: either(of(jobSpec, 'activeDeadlineSeconds'), of(podSpec, 'activeDeadlineSeconds')),
    backoffLimit: of(jobSpec, 'backoffLimit'),
    restartPolicy: of(podSpec, 'restartPolicy'),
    misplaced: [template, jobSpec, podSpec].flatMap((node) => misplacedIn(path, document, node)),
    isUnquotedTemplate: isUnquotedTemplate(schedule),
  }
  const containers = children(document, child(document, podSpec, 'containers'))
  const commands = containers.map((container) => [
    ...words(document, child(document, container, 'command')),
    ...words(document, child(document, container, 'args')),
  ])
  const text = commands.map((parts) => commandWords(parts.map((part) => part.text)).join(' ')).join('; ')
  return [cronJob, scheduleOf(cronJob, text)]
}

function apiVersionOf(document: YamlDocument, object: YamlNode): Setting {
  const found = children(document, object).filter(({ key }) => key === 'apiVersion')
  const kind = child(document, object, 'kind')
  const [first] = found
  if (first === undefined) return object.isOpen ? { state: 'unknown', line: object.line } : { state: 'missing' }
  const isCertain = found.length === 1 && first.blocks <= (kind?.blocks ?? first.blocks)
  if (!isCertain || hasHole(first.value) || first.value === null) return { state: 'unknown', line: first.line }
  return { state: 'literal', value: first.value, line: first.line }
}

function settingOf(document: YamlDocument, parent: YamlNode | undefined, key: string): Setting {
  if (parent === undefined) return { state: 'unknown', line: 0 }
  const node = child(document, parent, key)
  if (node === undefined)
    return isOpen(document, parent) ? { state: 'unknown', line: parent.line } : { state: 'missing' }
  const { line, value } = node
  // A setting without a value is null, which Kubernetes treats as missing.
  if (value === null && node.children.length === 0 && node.alias === null) return { state: 'missing' }
  if (value === null || hasHole(value) || node.blocks > parent.blocks) return { state: 'unknown', line }
  return { state: 'literal', value, line }
}

function either(first: Setting, second: Setting): Setting {
  return first.state === 'missing' ? second : first
}

const OF_THE_CRON_JOB = new Set(['concurrencyPolicy', 'startingDeadlineSeconds', 'timeZone', 'suspend', 'schedule'])

function misplacedIn(path: string, document: YamlDocument, node: YamlNode | undefined): CronJob['misplaced'] {
  return children(document, node).flatMap(({ key, line }) =>
    // `suspend` is also a setting of a Job.
    key !== null && key !== 'suspend' && OF_THE_CRON_JOB.has(key) ? [{ key, place: { path, line } }] : [],
  )
}

function isUnquotedTemplate({ value, isQuoted }: YamlNode): boolean {
  if (isQuoted || value === null || !/^\{\{.*\}\}$/.test(value)) return false
  return !/\b(?:quote|squote|toYaml|toJson|include|tpl)\b|["']\\?["']/.test(value)
}

function scheduleOf(cronJob: CronJob, text: string): Schedule {
  return {
    kind: 'schedule',
    place: cronJob.place,
    source: 'kubernetes',
    runner: 'platform',
    name: cronJob.name,
    when: whenOf(cronJob.schedule),
    zone: zoneOf(cronJob.timeZone),
    zoneGroup: null,
    guard: NO_GUARD,
    handler: { isAsync: null, effect: 'unknown', dropped: null, text },
    overlap: overlapOf(cronJob.concurrencyPolicy),
    isDynamic: false,
  }
}

function whenOf(schedule: Setting): When {
  if (schedule.state !== 'literal') return { kind: 'unknown', text: 'schedule of a template' }
  const expression = schedule.value.replace(/^(?:CRON_)?TZ=\S+\s+/, '')
  return { kind: 'cron', expression, dialect: 'robfig' }
}

/** Without `timeZone`, the zone of the controller counts: rule K8S002 is about that. */
function zoneOf(timeZone: Setting): Zone {
  if (timeZone.state === 'literal') return { kind: 'stated', name: timeZone.value }
  return timeZone.state === 'unknown' ? { kind: 'computed' } : PLATFORM_ZONE
}

function overlapOf(policy: Setting): Schedule['overlap'] {
  if (policy.state === 'unknown') return 'unknown'
  return policy.state === 'literal' && policy.value !== 'Allow' ? 'prevented' : 'possible'
}

import type { Fact } from '../facts/fact.ts'
import { NO_GUARD, PLATFORM_ZONE, type Schedule } from '../facts/schedule.ts'
import type { Reader } from './reader.ts'
import type { YamlNode } from './yaml/node.ts'
import { outline, type YamlDocument } from './yaml/outline.ts'
import { child, children, hasHole, literal } from './yaml/query.ts'

/** Workflows of GitHub Actions, and of the services that run the same format. */
export const workflowReader: Reader = {
  name: 'GitHub Actions',
  reads: (path) => /(?:^|\/)\.(?:github|gitea|forgejo)\/workflows\/[^/]+\.ya?ml$/.test(path),
  mayHoldFacts: (text) => /\bschedule\b/.test(text),
  read: ({ path, text }) => outline(text).flatMap((document) => documentFacts(path, document)),
}

function documentFacts(path: string, document: YamlDocument): readonly Fact[] {
  const { root } = document
  const on = child(document, root, 'on') ?? child(document, root, 'true')
  const schedule = child(document, on, 'schedule')
  if (schedule === undefined) return []
  const crons = children(document, schedule).flatMap((item) => child(document, item, 'cron') ?? [])
  if (crons.length === 0) return []
  const jobs = children(document, child(document, root, 'jobs'))
  const hasConcurrency =
    child(document, root, 'concurrency') !== undefined ||
    jobs.some((job) => child(document, job, 'concurrency') !== undefined)
  const name = literal(child(document, root, 'name'))
  return [
    { kind: 'workflow', place: { path, line: schedule.line }, hasConcurrency },
    ...crons.map((cron) => scheduleOf(path, cron, name, hasConcurrency)),
  ]
}

function scheduleOf(path: string, cron: YamlNode, name: string | null, hasConcurrency: boolean): Schedule {
  const expression = cron.value ?? ''
  return {
    kind: 'schedule',
    place: { path, line: cron.line },
    source: 'github-actions',
    runner: 'platform',
    name,
    when: hasHole(expression) ? { kind: 'unknown', text: expression } : { kind: 'cron', expression, dialect: 'github' },
    zone: PLATFORM_ZONE,
    zoneGroup: null,
    guard: NO_GUARD,
    handler: { isAsync: null, effect: 'unknown', dropped: null, text: name ?? path },
    overlap: hasConcurrency ? 'prevented' : 'possible',
    isDynamic: false,
  }
}

import type { AlertSubject, Message, MessageKind, Rule, Severity } from '../model/alert.ts'
import { HEARTBEAT_PREFIX } from '../model/exclusive-jobs.ts'
import { counted, shellWord } from '../words.ts'
import { roughly } from './rules/figures.ts'

/** What a channel is given to send. Instants are epoch milliseconds. */
export interface AlertMessage {
  /** Unique. The same if a message is sent again after a crash: receivers may use it as an idempotency key. */
  readonly id: string
  readonly kind: MessageKind
  /** The same for all messages about one alert, from firing to resolved. */
  readonly alert: string
  readonly app: string
  readonly namespace: string
  /** `test`: of `cronce alerts test`. */
  readonly rule: Rule | 'test'
  readonly severity: Severity
  readonly state: 'firing' | 'resolved'
  readonly firstAt: number
  readonly lastAt: number
  /** The first of them. */
  readonly subjects: readonly AlertSubject[]
  readonly count: number
  /** One line. */
  readonly title: string
  /** What happened, since when, what it means. */
  readonly text: string
  /** The command to look closer. */
  readonly command: string
  /** The dashboard, if `publicUrl` is set. */
  readonly url: string | null
}

const MEANINGS: Readonly<Record<Rule, string>> = {
  overdue: 'Work that is due is not being done: instances may be too few, busy, or cut off from the store.',
  silent: 'The work has not been done for longer than its schedule explains.',
  failing: 'The work is tried and not done.',
  stuck: 'A run hangs; unless its overlap policy allows it, later fires do not run.',
  slow: 'The work takes far longer than it did: the next due time may be skipped.',
  late: 'The work starts far later than it did: instances may be too few or busy.',
  missed: 'These due times were not run, and will not be unless you backfill them.',
  'no-runner': 'No process can run it: start one that declares the job, or remove the schedule.',
  fleet: 'Fewer processes than planned do the work, or not the ones you think.',
  duplicate: 'A second scheduler does the same work.',
  clock: 'Fires go by the clock of the store; logs and your own code do not. Synchronize these machines by NTP.',
  store: 'All fires depend on the store.',
}

const COMMANDS: Readonly<Partial<Record<Rule, string>>> = {
  fleet: 'cronce instances',
  clock: 'cronce instances',
  store: 'cronce doctor',
  duplicate: 'cronce duplicates',
}

const NAMED = 10

/** The message as channels send it. */
export function renderMessage(
  { id, kind, at, alert }: Message,
  {
    app,
    namespace,
    publicUrl,
  }: { readonly app: string; readonly namespace: string; readonly publicUrl: string | null },
): AlertMessage {
  const common = { id, kind, app, namespace, url: publicUrl }
  if (alert === null) {
    const text = 'This is a test: alerts of this app reach you here.'
    const about = { rule: 'test', severity: 'warning', state: 'firing', subjects: [], count: 0 } as const
    const title = `cronce: test message of app ${app}`
    return { ...common, ...about, alert: id, firstAt: at, lastAt: at, title, text, command: 'cronce alerts' }
  }
  const { rule, severity, firstAt, lastAt, subjects, count } = alert
  const state = kind === 'resolved' ? 'resolved' : 'firing'
  const first = subjects[0]?.name ?? ''
  const who = count === 1 ? first : counted(count, 'subject')
  const title = `cronce ${state}: ${rule}, ${who} (app ${app})`
  const command = commandFor(rule, first)
  const text = state === 'resolved' ? resolvedText(subjects, count, { firstAt, at }) : firingText(rule, subjects, count)
  const about = { rule, severity, state, firstAt, lastAt, subjects, count } as const
  return { ...common, ...about, alert: `${namespace}/${app}/${rule}/${firstAt}`, title, text, command }
}

function commandFor(rule: Rule, subject: string): string {
  if (subject.startsWith(HEARTBEAT_PREFIX)) return `cronce runs ${shellWord(subject)}`
  return COMMANDS[rule] ?? `cronce show ${shellWord(subject)}`
}

/** Times are written out: a message may arrive hours later. */
function firingText(rule: Rule, subjects: readonly AlertSubject[], count: number): string {
  const lines = subjects
    .slice(0, NAMED)
    .map(({ name, text, sinceAt }) => `- ${name}: ${text} (noticed ${minuteOf(sinceAt)})`)
  return [...lines, ...more(count), MEANINGS[rule]].join('\n')
}

function resolvedText(
  subjects: readonly AlertSubject[],
  count: number,
  { firstAt, at }: { readonly firstAt: number; readonly at: number },
): string {
  const names = subjects.slice(0, NAMED).map(({ name }) => `- ${name}`)
  return [`It lasted for ${roughly(at - firstAt)}, until ${minuteOf(at)}.`, ...names, ...more(count)].join('\n')
}

/** `2027-06-01 03:02 UTC` */
function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function more(count: number): readonly string[] {
  return count > NAMED ? [`- and ${count - NAMED} more`] : []
}

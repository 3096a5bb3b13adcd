import { CronceError } from '../errors.ts'
import type { ActivityRecord } from '../model/activity.ts'
import { type Alert, type AlertRecord, type Message, MOST_UNSENT, type Mute } from '../model/alert.ts'
import { ALERTS_JOB, alertsSchedule, WATCH_JOB } from '../model/exclusive-jobs.ts'
import { type Act, lineOf } from './activity.ts'
import { alertRecordOf, changeAlertRecord } from './alert-record.ts'
import { readStore } from './ask-store.ts'
import type { ClientParts } from './parts.ts'
import { AUTHORED, type Authored, optionalInstant, optionalText, readCommand, readOperator } from './read-command.ts'
import { readName } from './read-name.ts'
import { optionInvalid, readBoolean } from './read-option.ts'
import type { When } from './schedule-options.ts'

/** An alert of an app: all problems of one rule. Instants are epoch milliseconds. */
export interface AlertView extends Alert {
  readonly app: string
}

/** What is muted in an app. */
export interface MuteView extends Mute {
  readonly app: string
}

/** A message that has not reached all channels. */
export interface UnsentView extends Pick<Message, 'id' | 'kind' | 'at'> {
  readonly app: string
  /** `test`: a test message. */
  readonly rule: Alert['rule'] | 'test'
}

/** Options of `alerts.list()`. */
export interface AlertListOptions {
  /** With those that were resolved in the last 7 days. @default false */
  readonly all?: boolean | undefined
}

interface OfApp {
  /** @default all apps that are watched */
  readonly app?: string | undefined
}

/** Options of `alerts.mute()`. */
export interface MuteOptions extends Authored, OfApp {
  /** @default until it is unmuted */
  readonly until?: When | undefined
}

/** Alerts of the watchdog: list, mute, unmute, test. */
export interface Alerts {
  /** Those that are firing or muted, by app and rule. */
  list(options?: AlertListOptions): Promise<readonly AlertView[]>
  mutes(): Promise<readonly MuteView[]>
  /** Messages that have not reached all channels yet. */
  unsent(): Promise<readonly UnsentView[]>
  /** No messages about a rule, a schedule or another subject. APP_NOT_FOUND if no app is watched. */
  mute(subject: string, options?: MuteOptions): Promise<readonly MuteView[]>
  /** False: it was not muted. */
  unmute(subject: string, options?: OfApp & Authored): Promise<boolean>
  /** Sends a test message to every channel of an app: the watching instance does so within two minutes. */
  test(options?: OfApp): Promise<readonly UnsentView[]>
}

/** Apps whose records are read. */
const MOST_APPS = 500
const MOST_MUTES = 200

export function makeAlerts<Tx>(parts: ClientParts<Tx>): Alerts {
  const { store } = parts
  const records = async (): Promise<ReadonlyMap<string, AlertRecord>> => {
    const query = { job: ALERTS_JOB, after: null, limit: MOST_APPS }
    const { items } = await readStore('list alerts', () => store.listSchedules(query))
    const prefix = alertsSchedule('').length
    return new Map(items.map((state) => [state.id.slice(prefix), alertRecordOf(state)]))
  }
  /** Of each app, what this finds in its record. */
  const every = async <Found>(find: (record: AlertRecord) => readonly Found[]): Promise<(Found & { app: string })[]> =>
    [...(await records())].flatMap(([app, record]) => find(record).map((found) => ({ app, ...found })))
  const appsOf = async (app: string | undefined): Promise<readonly string[]> => {
    const { instances } = await readStore('list instances', () => store.listInstances({ ended: 0 }))
    const watched = instances.filter(({ jobs }) => jobs.includes(WATCH_JOB)).map((instance) => instance.app)
    const apps = [...new Set([...watched, ...(await records()).keys()])].filter(
      (known) => app === undefined || known === app,
    )
    if (apps.length === 0) throw notWatched(app)
    return apps.sort()
  }
  return {
    async list(options) {
      const { all = false } = readCommand(options, ['all'])
      const isAll = readBoolean('all', all)
      const found = await every(({ alerts }) => alerts.filter(({ state }) => isAll || state !== 'resolved'))
      return found.map(({ messageAt: _, sentCount: __, hasNews: ___, ...view }) => view)
    },
    mutes: () => every(({ mutes }) => mutes),
    unsent: () => every(({ outbox }) => outbox.map(viewUnsent)),
    async mute(subject, options) {
      const { until, app, ...given } = readCommand(options, ['until', 'app', ...AUTHORED])
      const name = readName('subject', subject)
      const { origin, ...authored } = readOperator(given)
      const mute: Mute = { subject: name, untilAt: optionalInstant('until', until) ?? null, ...authored }
      const apps = await appsOf(optionalText('app', app))
      for (const each of apps) {
        const log = logOf(parts, { action: 'mute', by: { origin, ...authored } }, name, {
          app: each,
          untilAt: mute.untilAt,
        })
        await changeAlertRecord(parts, each, (record, now) => withMute(record, mute, now), log)
      }
      return apps.map((each) => ({ app: each, ...mute }))
    },
    async unmute(subject, options) {
      const { app, ...given } = readCommand(options, ['app', ...AUTHORED])
      const by = readOperator(given)
      const name = readName('subject', subject)
      const found = (await every(({ mutes }) => mutes)).filter(
        (mute) => mute.subject === name && (app ?? mute.app) === mute.app,
      )
      for (const { app: each } of found) {
        const log = logOf(parts, { action: 'unmute', by }, name, { app: each })
        await changeAlertRecord(parts, each, (record) => withoutMute(record, name), log)
      }
      return found.length > 0
    },
    async test(options) {
      const { app } = readCommand(options, ['app'])
      const sent: UnsentView[] = []
      for (const each of await appsOf(optionalText('app', app))) {
        const id = parts.context().newId()
        const { outbox } = await changeAlertRecord(parts, each, (record, now) => withTest(record, id, now))
        sent.push({ app: each, ...viewUnsent(outbox.find((message) => message.id === id)!) })
      }
      return sent
    },
  }
}

function logOf<Tx>(parts: ClientParts<Tx>, act: Act, alert: string, changed: ActivityRecord['changed']) {
  return (now: number): ActivityRecord => lineOf(parts, act, { type: 'alert', name: alert }, now, changed)
}

function withMute(record: AlertRecord, mute: Mute, now: number): AlertRecord {
  demandLater(mute, now)
  const others = record.mutes.filter(
    ({ subject, untilAt }) => subject !== mute.subject && (untilAt === null || untilAt > now),
  )
  if (others.length >= MOST_MUTES) {
    throw new CronceError('QUEUE_FULL', `${MOST_MUTES} subjects are muted, which is the most an app can have.`, {
      hint: 'Unmute some, or mute their rule instead: cronce alerts.',
    })
  }
  const mutes = [...others, mute]
  return { ...record, outbox: record.outbox.filter((message) => !isHeldBack(message, mutes)), mutes }
}

/** The end of an alert is sent nevertheless: it closes what an earlier message has opened. */
function isHeldBack({ kind, alert }: Message, mutes: readonly Mute[]): boolean {
  if (alert === null || kind === 'resolved') return false
  const isMuted = (name: string): boolean => mutes.some(({ subject }) => subject === name)
  const isAllListed = alert.count === alert.subjects.length
  return isMuted(alert.rule) || (isAllListed && alert.subjects.every(({ name }) => isMuted(name)))
}

function withoutMute(record: AlertRecord, subject: string): AlertRecord | null {
  const mutes = record.mutes.filter((mute) => mute.subject !== subject)
  return mutes.length === record.mutes.length ? null : { ...record, mutes }
}

function withTest(record: AlertRecord, id: string, now: number): AlertRecord {
  if (record.outbox.length >= MOST_UNSENT) {
    throw new CronceError(
      'QUEUE_FULL',
      `${MOST_UNSENT} messages wait for their channels: a test would only wait, too.`,
      {
        hint: 'See why by the warnings of the processes: each attempt that fails is logged.',
      },
    )
  }
  return { ...record, outbox: [...record.outbox, { id, kind: 'test', at: now, sendAt: now, alert: null }] }
}

function viewUnsent({ id, kind, at, alert }: Message): Omit<UnsentView, 'app'> {
  return { id, kind, at, rule: alert?.rule ?? 'test' }
}

function demandLater({ untilAt }: Mute, now: number): void {
  if (untilAt === null || untilAt > now) return
  throw optionInvalid('until', untilAt, 'an instant that is yet to come', "Look at the store's clock, or leave it out.")
}

function notWatched(app: string | undefined): CronceError {
  const which = app === undefined ? 'No app is watched' : `The app ${JSON.stringify(app)} is not watched`
  return new CronceError('APP_NOT_FOUND', `${which}.`, {
    hint: 'Give it the option alerts, as in cronce({ store, alerts: { channels: [slack({ url })] } }), and start it.',
  })
}

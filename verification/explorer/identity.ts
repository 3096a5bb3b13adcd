import { hash } from 'node:crypto'
import type { Change } from '../../packages/cronce/src/model/change.ts'
import type { HistoryRecord } from '../../packages/cronce/src/model/record.ts'
import type { Definition, OpenFire, ScheduleState } from '../../packages/cronce/src/model/schedule.ts'
import type { FleetOptions } from './fleet.ts'
import { isBusy, isIdle } from './reduce.ts'
import { FIRST_ID, idOf, LEASE, type Message, type Snapshot, type State, TICK_MS, workerOf } from './state.ts'

/**
 * What a state's future depends on, as a text; two states that differ in nothing else are one. Left out or cut short:
 * - the identity of workers: they are put in an order that depends only on what they do (equal ones may stay apart, which costs time only),
 * - the number of renewals: all that matters is whether a seen one is still the latest,
 * - versions: all that matters is whether a message was decided on the present one,
 * - when something happened, where no decision within the few ticks of a model asks for it; and what is past, of what may come.
 * Where the store may fall back to a copy, versions and renewals count.
 */
export function identityOf(options: FleetOptions, state: State): string {
  const isExact = options.faults.failover > 0
  const segments = state.workers.map((_, index) => workerText(state, index, isExact))
  const views = segments.map(own)
  const order = segments.map((_, index) => index).sort((one, other) => (views[one]! < views[other]! ? -1 : 1))
  const ranks = order.map((_, index) => order.indexOf(index))
  const parts = [
    storeText(state.store, state.now, isExact),
    claimsText(state),
    ...order.map((index) => segments[index]!),
    messagesText(state, -1, isExact),
    witnessText(options, state),
    state.copy === null ? '' : storeText(state.copy, state.now, true),
  ]
  return hash('sha1', renamed(parts.join('\n'), ranks), 'base64')
}

/** Every id in a text, which is one character that nothing else has, by another name. */
function replaceIds(text: string, nameOf: (id: string) => string): string {
  let renamed = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < FIRST_ID) continue
    renamed += text.slice(from, at) + nameOf(text[at]!)
    from = at + 1
  }
  return renamed + text.slice(from)
}

/** By the rank of the worker, and of its incarnations by their order alone. */
export function renamed(text: string, ranks: readonly number[]): string {
  const found = new Set<string>()
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= FIRST_ID) found.add(text[at]!)
  const ids = [...found].sort()
  const names = new Map<string, string>()
  let before = 0
  for (const [index, id] of ids.entries()) {
    before = index > 0 && workerOf(ids[index - 1]!) === workerOf(id) ? before + 1 : 0
    names.set(id, idOf(ranks[workerOf(id)]!, before))
  }
  return replaceIds(text, (id) => names.get(id)!)
}

/** As the worker itself sees it: all others are alike. */
function own(text: string, index: number): string {
  return replaceIds(text, (id) => (workerOf(id) === index ? 'I' : 'they'))
}

function witnessText({ definition }: FleetOptions, { now, faults, witness, operator }: State): string {
  const called = definition.policy.guarantee === 'at-most-once' ? witness.called : ''
  const { crash, silence, duplicate, failover } = faults
  const settled = failover > 0 || faults.failover > 0 ? witness.settled.join() : ''
  const told = [...witness.told].map(([token, words]) => `${token}${words[0]}`).join()
  const commands = `${operator.script.join()}/${operator.acknowledged}`
  return [
    now,
    crash,
    silence,
    duplicate,
    failover,
    called,
    witness.worked,
    told,
    settled,
    witness.highest,
    commands,
  ].join()
}

/** How far away future events are; past ones are equal. */
function ahead(at: number, now: number): number {
  return Math.max(0, at - now)
}

function workerText(state: State, index: number, isExact: boolean): string {
  const worker = state.workers[index]!
  const { run } = worker
  const sent = messagesText(state, index, isExact)
  const known = worker.onRecord.map(({ dueAt }) => dueAt).join()
  const held = instancesText(state, index, isExact)
  if (!isExact && isIdle(state, index)) return `idle;${known};${sent};${held}`
  const parts = [
    worker.isUp ? `${idOf(index, worker.incarnation)}${ahead(worker.trustedUntil, state.now)}` : 'down',
    worker.doubtful.join(),
    known,
    run === null ? '' : `${run.fire.dueAt} ${run.token} ${run.instance}${run.phase} ${run.how} ${run.isOver}`,
    sent,
    held,
  ]
  return parts.join(';')
}

/** Whose lease or death may still matter. */
function instancesText(state: State, index: number, isExact: boolean): string {
  const { now, store, workers } = state
  const { incarnation: last, run } = workers[index]!
  const parts: string[] = []
  for (let incarnation = 0; incarnation <= last; incarnation++) {
    const id = idOf(index, incarnation)
    const known = store.space.instances.get(id)
    if (known === undefined || !(isExact || isBusy(state, id) || run?.instance === id)) continue
    const renewals = isExact ? known.record.renewals : ''
    parts.push(known.goneAt === null ? `${id}${ahead(known.leaseUntil, now * TICK_MS)} ${renewals}` : `${id}gone`)
  }
  return parts.join(',')
}

function messagesText(state: State, index: number, isExact: boolean): string {
  const own = state.messages.filter(({ worker }) => worker === index)
  return own
    .map((message) => messageText(state, message, isExact))
    .sort()
    .join('|')
}

function messageText(state: State, message: Message, isExact: boolean): string {
  const isWatching = message.kind === 'burial' || message.kind === 'recovery'
  const frame = isWatching
    ? `${message.kind}${message.waiting}`
    : `${message.kind}${message.instance}${message.waiting}`
  switch (message.kind) {
    case 'claim': {
      const { answer, sentAt, decision } = message
      const trust = message.waiting === null ? '' : ahead(sentAt + LEASE, state.now)
      const what =
        answer === null
          ? changeText(state, decision.change, isExact)
          : `${answer.kind}${decision.started[0]?.record.token}`
      return `${frame}${trust}${what}`
    }
    case 'begin':
    case 'end':
      return `${frame}${message.token}`
    case 'burial': {
      const known = state.store.space.instances.get(message.target)
      const isSo = isExact ? message.renewals : known?.goneAt === null && known.record.renewals === message.renewals
      return `${frame}${message.target}${isSo}`
    }
    case 'command':
      return `${frame}${message.command}${changeText(state, message.change, isExact)}`
    default:
      return `${frame}${message.token}${changeText(state, message.change, isExact)}`
  }
}

function changeText({ store, now }: State, change: Change, isExact: boolean): string {
  const isFresh = (store.space.schedules.get(change.id)?.version ?? 0) === change.version
  if (!isFresh && !isExact) return 'old'
  const made = change.creates.map(({ dueAt }) => dueAt)
  const ended = change.history.map(lineText)
  const state = change.state === null ? 'removed' : scheduleText(change.state, now)
  return `${isExact ? change.version : ''}${state}${made}${ended}`
}

const stores = new WeakMap<Snapshot, { readonly now: number; readonly text: string }>()

/** Most moves leave the store as it is. */
function storeText(store: Snapshot, now: number, isExact: boolean): string {
  const known = stores.get(store)
  if (known?.now === now) return known.text
  const { schedules, history, steps, floor } = store.space
  const parts: string[] = [`${store.epoch} ${floor}`]
  for (const schedule of schedules.values()) {
    parts.push(`${isExact ? schedule.version : ''} ${scheduleText(schedule, now)}`)
  }
  for (const line of history.values()) parts.push(lineText(line))
  for (const { token, state } of steps.values()) parts.push(`${token}${state}`)
  for (const [key, value] of store.effects) parts.push(`${key}${value}`)
  const text = parts.sort().join(';')
  stores.set(store, { now, text })
  return text
}

function lineText({ dueAt, run, ending, isFinal }: HistoryRecord): string {
  return `${dueAt} ${run?.token} ${ending.reason} ${isFinal}`
}

function scheduleText({ definition, revision, pause, nextAt, tokens, open }: ScheduleState, now: number): string {
  const fires = open.map((fire) => fireText(fire, now)).join('/')
  return `${definitionText(definition)}${revision} ${pause === null} ${nextAt} ${tokens} ${fires}`
}

function fireText({ dueAt, attempt, crashes, failures, readyAt, wait, own: kept, run }: OpenFire, now: number): string {
  const running = run === null ? '' : `${run.token}${run.instance}${run.cancel?.revokeAt}`
  return `${dueAt} ${attempt} ${crashes} ${failures} ${ahead(readyAt, now * TICK_MS)} ${wait?.cause} ${wait?.late} ${kept === null} ${running}`
}

/** Whether a worker still waits for the answer to the claim of an open run. */
function claimsText({ messages, store }: State): string {
  const waiting = messages.flatMap((message) => {
    return message.kind === 'claim' && message.waiting === 'claim' ? [`${message.instance} ${message.claim}`] : []
  })
  if (waiting.length === 0) return ''
  const open = [...store.space.schedules.values()].flatMap((schedule) => schedule.open)
  return open
    .flatMap(({ run }) => (run !== null && waiting.includes(`${run.instance} ${run.claim}`) ? [run.token] : []))
    .join()
}

const numbers = new Map<string, number>()
const definitions = new WeakMap<Definition, number>()

/** Short, because it occurs often. */
function definitionText(definition: Definition): string {
  let number = definitions.get(definition)
  if (number === undefined) {
    const text = JSON.stringify(definition)
    number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    definitions.set(definition, number)
  }
  return `${number}: `
}

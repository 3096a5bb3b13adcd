import { setTimeout as sleep } from 'node:timers/promises'
import type { AlertView, Connection, MuteView, UnsentView } from 'cronce'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { type Column, formOf, note, OUTPUT_FLAGS, printJson, printList } from '../output.ts'
import { counted } from '../steer/say.ts'
import type { Color } from '../terminal.ts'
import { formatInstant, roughWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import { UsageError } from '../usage-error.ts'
import type { Command } from './command.ts'

export const alerts: Command = {
  operands: '[test]',
  examples: [
    ['cronce alerts', 'what is wrong now'],
    ['cronce alerts --all', 'also what was resolved in the last 7 days'],
    ['cronce alerts test', 'send a test message to every channel, and wait for it'],
  ],
  about:
    'Apps with the option alerts or watch are watched: https://github.com/cronce/cronce/blob/main/docs/alerts.md says by which rules. cronce mute keeps a subject from sending messages.',
  flags: {
    all: { type: 'boolean', help: 'Also those that were resolved in the last 7 days' },
    app: { type: 'string', value: 'APP', help: 'Of this app' },
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runAlerts,
}

function runAlerts(args: Args, io: Io): Promise<number> {
  const [what] = atMost(args, 1, 'alerts')
  if (what !== undefined && what !== 'test') {
    throw new UsageError(`cronce alerts has no "${what}".`, 'Write cronce alerts, or cronce alerts test.')
  }
  return withClient(args, io, (client, io) =>
    what === 'test' ? sendTest(client, args, io) : listAlerts(client, args, io),
  )
}

async function listAlerts(client: Connection, args: Args, io: Io): Promise<number> {
  const app = args.text('app')
  const isWanted = (found: { readonly app: string }): boolean => app === undefined || found.app === app
  const items = (await client.alerts.list({ all: args.has('all') })).filter(isWanted)
  const columns = columnsIn(zoneOf(args), io.now)
  printList({ items, columns, name: ({ rule }) => rule, empty: 'No alerts.' }, args, io)
  if (formOf(args) !== 'table') return 0
  const mutes = (await client.alerts.mutes()).filter(isWanted)
  const unsent = (await client.alerts.unsent()).filter(isWanted)
  for (const mute of mutes) note(muteWords(mute, zoneOf(args)), io)
  if (unsent.length > 0)
    note(`${counted(unsent.length, 'message has', 'messages have')} not reached all channels yet.`, io)
  return 0
}

export function muteWords({ app, subject, untilAt, note: why, author }: MuteView, tz: string): string {
  const until = untilAt === null ? 'until it is unmuted' : `until ${formatInstant(untilAt, tz)}`
  const by = author === null ? '' : `, by ${author}`
  return `${subject} is muted in app ${app} ${until}${by}${why === null ? '' : ` (${why})`}.`
}

/** Longer than the watching instance takes to look, and a channel to be tried twice. */
const PATIENCE_MS = 180_000
const LOOK_MS = 1_000

async function sendTest(client: Connection, args: Args, io: Io): Promise<number> {
  const app = args.text('app')
  const sent = await client.alerts.test(app === undefined ? {} : { app })
  if (formOf(args) === 'table') io.err(`Waiting for ${counted(sent.length, 'app')}: an instance looks once a minute.\n`)
  let left: readonly UnsentView[] = sent
  for (const end = performance.now() + PATIENCE_MS; left.length > 0 && performance.now() < end; ) {
    await sleep(LOOK_MS, undefined, { signal: io.signal }).catch(() => io.signal.throwIfAborted())
    const unsent = await client.alerts.unsent()
    left = sent.filter(({ id }) => unsent.some((message) => message.id === id))
  }
  const missing = left.map((message) => message.app)
  if (formOf(args) !== 'table') printJson({ sent: sent.map((message) => message.app), missing }, io)
  else if (missing.length === 0)
    io.out(`The channels of ${sent.map((message) => message.app).join(', ')} took the message.\n`)
  else
    note(`Not all channels of ${missing.join(', ')} took it: look at the log of the instances. It is tried again.`, io)
  return missing.length === 0 ? 0 : 1
}

const COLORS: Readonly<Record<AlertView['state'], Color | undefined>> = {
  firing: 'red',
  muted: 'yellow',
  resolved: 'green',
}

function columnsIn(tz: string, now: number): readonly Column<AlertView>[] {
  return [
    { title: 'RULE', value: ({ rule }) => rule, color: () => 'bold' },
    { title: 'STATE', value: ({ state }) => state, color: ({ state }) => COLORS[state] },
    { title: 'SEVERITY', value: ({ severity }) => severity, drop: 1 },
    { title: 'APP', value: ({ app }) => app, drop: 2 },
    { title: 'SINCE', value: ({ firstAt }) => roughWords(firstAt, now) },
    { title: 'SUBJECTS', value: ({ count }) => String(count), align: 'right' },
    {
      title: 'FIRST',
      value: ({ subjects: [first] }) => (first === undefined ? '' : `${first.name}: ${first.text}`),
      shrinks: true,
    },
    { title: 'CHANGED', value: ({ lastAt }) => formatInstant(lastAt, tz), wide: true },
  ]
}

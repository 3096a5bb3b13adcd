import type { InstanceView } from 'cronce'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost } from '../operands.ts'
import { type Column, note, OUTPUT_FLAGS, printList } from '../output.ts'
import { declaredJobs } from '../placement-words.ts'
import type { Color } from '../terminal.ts'
import { formatInstant, roughWords, TIME_FLAGS, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

export const instances: Command = {
  operands: '',
  examples: [
    ['cronce instances', 'which processes run jobs'],
    ['cronce instances --all -o wide', 'also those that left or died within a day'],
    ['cronce instances -o name', 'only ids, for cronce drain'],
  ],
  about:
    "CLOCK is how far the clock of the machine is from the store's, as the instance measured it.\nSilent means that its lease has expired and its peers are about to take over.",
  flags: {
    all: { type: 'boolean', help: 'Also those that left or died within a day, the latest 200' },
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    ...OUTPUT_FLAGS,
  },
  run: runInstances,
}

/** How many of those that are over are shown: the latest. */
const ENDED = 200
const GONE: readonly InstanceView['state'][] = ['left', 'dead']

function runInstances(args: Args, io: Io): Promise<number> {
  atMost(args, 0, 'instances')
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const known = await client.instances.list({ ended: ENDED })
    const items = known.filter(({ state }) => args.has('all') || !GONE.includes(state))
    printList(
      { items, columns: columnsIn(tz, io.now), name: ({ id }) => id, empty: 'No instances: nothing runs jobs.' },
      args,
      io,
    )
    const hidden = known.length - items.length
    const many = hidden < ENDED ? hidden : `${ENDED} or more`
    if (hidden > 0) note(`${many} left or died within a day: add --all.`, io)
    return 0
  })
}

const COLORS: Readonly<Record<InstanceView['state'], Color | undefined>> = {
  live: 'green',
  draining: 'yellow',
  silent: 'red',
  left: 'dim',
  dead: 'red',
}

function columnsIn(tz: string, now: number): readonly Column<InstanceView>[] {
  return [
    { title: 'ID', value: ({ id }) => id, color: () => 'bold' },
    {
      title: 'STATE',
      value: ({ state, drain }) => (drain && state === 'live' ? 'draining' : state),
      color: ({ state }) => COLORS[state],
    },
    { title: 'APP', value: ({ app }) => app },
    { title: 'DEPLOYMENT', value: ({ deployment }) => deployment, shrinks: true, drop: 2 },
    { title: 'HOST:PID', value: ({ host, pid }) => `${host}:${pid}`, shrinks: true },
    { title: 'RUNS', value: ({ running, concurrency }) => `${running}/${concurrency}`, align: 'right' },
    {
      title: 'CLOCK',
      value: ({ clockOffsetMs }) => offsetWords(clockOffsetMs),
      align: 'right',
      color: ({ clockOffsetMs }) => (Math.abs(clockOffsetMs) > 100 ? 'yellow' : undefined),
    },
    { title: 'LAST SEEN', value: ({ renewedAt }) => roughWords(renewedAt, now) },
    { title: 'STARTED', value: ({ startedAt }) => formatInstant(startedAt, tz), wide: true },
    { title: 'LABELS', value: ({ labels }) => labelWords(labels), wide: true },
    { title: 'VERSION', value: ({ version }) => version, wide: true },
    { title: 'ZONE DATA', value: ({ zoneData }) => zoneData, wide: true },
    { title: 'JOBS', value: ({ jobs }) => declaredJobs(jobs).join(', '), wide: true },
  ]
}

function labelWords(labels: InstanceView['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(', ')
}

function offsetWords(ms: number): string {
  return `${ms > 0 ? '+' : ''}${Math.round(ms)}ms`
}

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connect } from 'cronce'
import { sqlite } from 'cronce/sqlite'
import { aborted } from '../aborted.ts'
import { EXIT } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { progressLine } from '../progress.ts'
import { endProcessSoon } from '../service/end-process.ts'
import { type Address, type Listener, listen, protectionFor } from '../service/listen.ts'
import { writeAuditReport } from './audit-report.ts'
import { createPayments, gather, isSettled, listJudged } from './evidence.ts'
import { createFleet, type Fleet, SLOTS } from './fleet.ts'
import { makeHistory } from './history.ts'
import { audit, type Evidence } from './ledger.ts'
import { draw, ledgerLine, type Told } from './picture.ts'
import { report, verdict } from './report.ts'
import { SCHEDULES } from './schedules.ts'
import { createScreen, type Screen } from './screen.ts'
import { HISTORY_DAYS } from './shop.ts'
import { createStory, type Story } from './story.ts'

export interface DemoOptions {
  readonly seconds: number
  /** The result alone. */
  readonly isQuiet: boolean
  /** Where the dashboard is served, with the history of a shop; `null`: in the terminal alone. */
  readonly dashboard: Address | null
}

const FRAME_MS = 100
const GATHER_MS = 250
/** How long a slow machine may take for what has to happen, besides the time asked for. */
const PATIENCE_MS = 90_000
/** Until this instant everything is new; what was due before is not looked at. */
const HEAD_START_MS = 300
/** The default is 15 seconds; shorter, so that a pause beyond the lease fits into the demo. */
const LEASE_MS = { long: 3_000, short: 1_500 } as const
/** After the verdict, with the dashboard: how long between two faults. */
const ENCORE_MS = 20_000
const NOTHING: Evidence = { due: new Map(), fires: [], runs: [], lines: [], payments: [], paying: '', isFinal: false }

/** The stage: what all acts share. */
interface Stage extends DemoOptions {
  readonly io: Io
  readonly folder: string
  readonly file: string
  readonly screen: Screen
  readonly client: Connection<DatabaseSync>
  readonly fleet: Fleet
  readonly listener: Listener | null
  readonly leaseMs: number
  readonly events: Told[]
  /** The story that the messages of the processes are told to. */
  story: Story
  startAt: number
  evidence: Evidence
}

/**
 * Three processes on one SQLite file. One is killed in the middle of a run, one is paused beyond its lease; in the end two witnesses are
 * compared with what had to be. With the dashboard, 90 days of history come first, and the faults go on until Ctrl-C.
 */
export async function runDemo(options: DemoOptions, io: Io): Promise<number> {
  const screen = createScreen(options.isQuiet)
  const folder = await mkdtemp(join(tmpdir(), 'cronce-demo-'))
  let fleet: Fleet | null = null
  // At every exit: restore the terminal, and leave no process and no file.
  process.on('exit', () => {
    screen.end()
    fleet?.killAll()
    rmSync(folder, { recursive: true, force: true })
  })
  const stage = await setUp(options, io, screen, folder)
  fleet = stage.fleet
  const stopped = aborted(io.signal).then(() => EXIT.interrupted)
  const code = await Promise.race([play(stage), stopped])
  screen.end()
  await stage.listener?.close()
  // The story and its processes may be in the middle of something.
  endProcessSoon()
  return code
}

async function setUp(options: DemoOptions, io: Io, screen: Screen, folder: string): Promise<Stage> {
  const file = join(folder, 'demo.db')
  const brokenFrom = options.dashboard === null ? null : await seed(file, io)
  const leaseMs = options.seconds >= 15 ? LEASE_MS.long : LEASE_MS.short
  const order = { file, leaseMs, brokenFrom, deployment: 'v45', isEncore: false }
  const fleet = createFleet(folder, order, (message, place) => stage.story.told(message, place))
  createPayments(file)
  const client = await connect<DatabaseSync>({ store: sqlite(file), logger: false })
  const listener = options.dashboard === null ? null : await serveDashboard(client, options.dashboard, folder, io)
  const stage: Stage = {
    ...{ ...options, io, folder, file, screen, client, fleet, listener, leaseMs, events: [] },
    ...{ startAt: Number.POSITIVE_INFINITY, evidence: NOTHING },
    story: null as never,
  }
  stage.story = newStory(stage)
  if (listener !== null) screen.print(`Watch it in a browser: ${listener.dashboard}\n`)
  return stage
}

/** Answers from when on the broken job fails. */
async function seed(file: string, io: Io): Promise<number> {
  if (!io.isErrTTY) io.err(`Making ${HISTORY_DAYS} days of history.\n`)
  const line = progressLine(io)
  const { brokenFrom } = await makeHistory(file, (done, of) => line.show(`Making history: day ${done} of ${of}`))
  line.clear()
  return brokenFrom
}

/** For the user of the printed address, who may operate. */
async function serveDashboard(
  client: Connection<DatabaseSync>,
  address: Address,
  folder: string,
  io: Io,
): Promise<Listener> {
  return listen(client, {
    ...{ address, protection: protectionFor(address, undefined, { env: {} }), ready: () => true },
    ...{ log: { tell: (_level: string, message: string) => io.err(`${message}\n`) }, otherwiseAny: true },
    dashboard: { environment: 'demo', audit: await writeAuditReport(folder) },
  })
}

function newStory(stage: Stage): Story {
  return createStory(stage.fleet, stage.file, (kind, what, detail) => {
    const told = { kind, what, detail, atMs: Math.max(0, Date.now() - stage.startAt) }
    stage.events.push(told)
    stage.screen.event(told)
  })
}

async function play(stage: Stage): Promise<number> {
  const { seconds, screen, isQuiet, fleet, story, leaseMs, client, listener } = stage
  if (!screen.isLive && !isQuiet) screen.print('cronce: every fire runs once. Three processes, one SQLite file.\n')
  for (const slot of SLOTS) fleet.start(slot)
  await watch(
    stage,
    () => 'starting',
    () => isUp(stage),
  )
  stage.startAt = Math.ceil((Date.now() + HEAD_START_MS) / 1_000) * 1_000
  for (const place of fleet.places) place.runs = 0
  const stop = new AbortController()
  const times = { killAt: stage.startAt + seconds * 150, pauseAt: stage.startAt + seconds * 400 }
  // What it throws is thrown below, and what is thrown by stopping it is not of interest.
  const playing = story.play({ ...times, restartAfterMs: seconds * 60, leaseMs }, stop.signal)
  playing.catch(() => {})
  const elapsed = (): number => Math.max(0, Date.now() - stage.startAt) / 1_000
  const title = (): string => `${elapsed().toFixed(1)} s of ${seconds}`
  await watch(stage, title, () => elapsed() >= seconds && story.isDone())
  const endAt = Date.now()
  if (story.isDone()) await playing
  stop.abort()
  await watch(
    stage,
    () => 'the last ones',
    () => isSettled(client, endAt),
  )
  await fleet.leave()
  stage.evidence = await gather(stage, endAt, true)
  const code = judge(stage)
  if (listener === null) return code
  screen.print(
    `\n The fleet goes on, and so do its faults. The dashboard is at ${listener.dashboard} until you press Ctrl-C.`,
  )
  return encore(stage)
}

/** What the ledger and the checker say; the exit code. */
function judge(stage: Stage): number {
  const { screen, isQuiet, story, evidence, file } = stage
  const { problems, code } = verdict(audit(evidence), story.isDone())
  const verified = verify(file)
  show(stage, problems)
  if (!isQuiet) screen.print(`\n ${screen.style('bold', '$ cronce fires --verify')}\n${verified.said}`)
  return code === 0 ? verified.status : code
}

/** The command that an operator would type: a third check, of the records alone. */
function verify(file: string): { readonly status: number; readonly said: string } {
  const args = [process.argv[1]!, 'fires', '--verify', '--store', `sqlite:${file}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status: status ?? 1, said: `${stdout}${status === 0 ? '' : stderr}`.replace(/^/gm, '   ').trimEnd() }
}

/** Until the user stops it: the same faults, again and again, for those who watch in a browser. */
async function encore(stage: Stage): Promise<never> {
  const { fleet, leaseMs, client, screen, listener } = stage
  // While no process declares them: otherwise what they miss until they retire would be on record, and what queued would run.
  for (const { name } of SCHEDULES)
    await client.schedules.remove(name, { force: true, author: 'demo', note: 'The story is over' })
  for (const slot of SLOTS) fleet.start(slot, { isEncore: true, deployment: 'v46' })
  screen.print(`\n The fleet goes on, and so do its faults. Watch it until you press Ctrl-C: ${listener?.dashboard}`)
  for (;;) {
    stage.story = newStory(stage)
    const now = Date.now()
    const times = { killAt: now + ENCORE_MS, pauseAt: now + 2 * ENCORE_MS }
    await stage.story.play({ ...times, restartAfterMs: ENCORE_MS / 4, leaseMs }, new AbortController().signal)
  }
}

async function isUp({ client, fleet }: Stage): Promise<boolean> {
  const items = await listJudged(client)
  return items.length === SCHEDULES.length && fleet.places.every(({ status }) => status === 'live')
}

/** Until `isDone`, or patience ends; the picture goes on meanwhile. */
async function watch(stage: Stage, title: () => string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const { seconds, screen, startAt } = stage
  const giveUpAt = performance.now() + seconds * 1_000 + PATIENCE_MS
  for (let gatheredAt = 0; !(await isDone()) && performance.now() < giveUpAt; ) {
    if (performance.now() - gatheredAt > GATHER_MS && Number.isFinite(startAt)) {
      stage.evidence = await gather(stage, Date.now(), false)
      gatheredAt = performance.now()
    }
    screen.show(frame(stage, title(), screen.rows()))
    await sleep(FRAME_MS)
  }
}

function frame(stage: Stage, title: string, rows: number): string[] {
  const { fleet, evidence, events, startAt, screen } = stage
  const { fires, runs } = evidence
  const slotOf = (instance: string) => fleet.placeOf(instance)?.slot
  const ledger = audit(evidence)
  const scene = { title, places: fleet.places, fires, runs, slotOf, events, ledger, startAt, now: Date.now() }
  return draw(scene, screen.style, screen.columns(), rows)
}

function show(stage: Stage, found: readonly string[]): void {
  const { screen, evidence, isQuiet, fleet } = stage
  const ledger = audit(evidence)
  const slotOf = (instance: string) => fleet.placeOf(instance)?.slot
  const last = screen.isLive ? frame(stage, '', Number.POSITIVE_INFINITY).slice(0, -2) : []
  screen.end()
  if (!isQuiet) screen.print(screen.isLive ? `${last.join('\n')}\n` : '')
  screen.print(isQuiet ? ledgerLine(ledger, screen.style).trim() : report(ledger, evidence, slotOf, screen.style))
  for (const problem of found) screen.print(screen.style('red', ` ✗ ${problem}`))
}

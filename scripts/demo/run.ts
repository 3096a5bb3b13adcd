/**
 * `npm run demo`: three processes on one SQLite file. One is killed in the middle of a run, one is paused beyond its lease;
 * in the end two witnesses are compared with what had to be. `--seconds N` for how long, `--quiet` for the result alone, `--dashboard` to
 * watch it in a browser, also after its end.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createDashboard } from '@cronce/dashboard'
import { loopbackAccess, serve } from '@cronce/server'
import { connect } from 'cronce'
import { sqlite } from 'cronce/sqlite'
import { createPayments, gather, isSettled } from './evidence.ts'
import { createFleet, SLOTS } from './fleet.ts'
import { audit, type Evidence } from './ledger.ts'
import { draw, ledgerLine, type Told } from './picture.ts'
import { report, verdict } from './report.ts'
import { SCHEDULES } from './schedules.ts'
import { createScreen } from './screen.ts'
import { createStory, type Tell } from './story.ts'

const FRAME_MS = 100
const GATHER_MS = 250
/** How long a slow machine may take for what has to happen, besides the time asked for. */
const PATIENCE_MS = 90_000
/** Until this instant everything is new; what was due before is not looked at. */
const HEAD_START_MS = 300

const { seconds, isQuiet, hasDashboard } = readArguments()
// The default is 15 seconds; shorter, so that a pause beyond the lease fits into the demo.
const leaseMs = seconds >= 15 ? 3_000 : 1_500
const screen = createScreen(isQuiet)
const folder = await mkdtemp(join(tmpdir(), 'cronce-demo-'))
const file = join(folder, 'demo.db')
const fleet = createFleet(folder, { file, leaseMs }, (message, place) => story.told(message, place))
clearWhenEnded()
createPayments(file)
const client = await connect<DatabaseSync>({ store: sqlite(file), logger: false })
const dashboard = hasDashboard ? await serveDashboard() : null
if (dashboard !== null) screen.print(`Watch it in a browser: ${dashboard}/\n`)

if (!screen.isLive && !isQuiet) screen.print('cronce: every fire runs once. Three processes, one SQLite file.\n')
const events: Told[] = []
const tell: Tell = (kind, what, detail) => {
  const told = { kind, what, detail, atMs: Math.max(0, Date.now() - startAt) }
  events.push(told)
  screen.event(told)
}
const slotOf = (instance: string) => fleet.placeOf(instance)?.slot
let startAt = Number.POSITIVE_INFINITY
let evidence: Evidence = { due: new Map(), fires: [], runs: [], lines: [], payments: [], paying: '', isFinal: false }
const story = createStory(fleet, file, tell)

for (const slot of SLOTS) fleet.start(slot)
await watch(() => 'starting', isUp)
startAt = Math.ceil((Date.now() + HEAD_START_MS) / 1_000) * 1_000
for (const place of fleet.places) place.runs = 0

const stop = new AbortController()
const times = { killAt: startAt + seconds * 150, pauseAt: startAt + seconds * 400 }
// What it throws is thrown below, and what is thrown by stopping it is not of interest.
const playing = story.play({ ...times, restartAfterMs: seconds * 60, leaseMs }, stop.signal)
playing.catch(() => {})
await watch(
  () => `${elapsed().toFixed(1)} s of ${seconds}${dashboard === null ? '' : `  ${dashboard}/`}`,
  () => elapsed() >= seconds && story.isDone(),
)
const endAt = Date.now()
if (story.isDone()) await playing
stop.abort()
await watch(
  () => 'the last ones',
  () => isSettled(client, endAt),
)
await fleet.leave()
evidence = await gather({ folder, file, client, startAt }, endAt, true)
const { problems, code } = verdict(audit(evidence), story.isDone())
if (dashboard === null) await client.close()
const verified = verify(file)
show(problems)
if (!isQuiet) screen.print(`\n ${screen.style('bold', '$ cronce fires --verify')}\n${verified.said}`)
if (dashboard !== null) {
  screen.print(`\n The dashboard stays at ${dashboard}/ until you press Ctrl-C.`)
  await once(process, 'SIGINT')
}
process.exit(code === 0 ? verified.status : code)

/** Open to the programs of this machine alone. */
async function serveDashboard(): Promise<string> {
  const handler = createDashboard(client, { access: loopbackAccess('operate'), environment: 'demo' })
  return (await serve(handler, { port: 0 })).url
}

/** The command that an operator would type: a third check, of the records alone. */
function verify(demoFile: string): { readonly status: number; readonly said: string } {
  const program = fileURLToPath(new URL('../../packages/cli/bin/cronce.js', import.meta.url))
  const args = [program, 'fires', '--verify', '--store', `sqlite:${demoFile}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status: status ?? 1, said: `${stdout}${status === 0 ? '' : stderr}`.replace(/^/gm, '   ').trimEnd() }
}

function elapsed(): number {
  return Math.max(0, Date.now() - startAt) / 1_000
}

async function isUp(): Promise<boolean> {
  const { items } = await client.schedules.list()
  return items.length === SCHEDULES.length && fleet.places.every(({ status }) => status === 'live')
}

/** Until `isDone`, or patience ends; the picture goes on meanwhile. */
async function watch(title: () => string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + seconds * 1_000 + PATIENCE_MS
  for (let gatheredAt = 0; !(await isDone()) && performance.now() < giveUpAt; ) {
    if (performance.now() - gatheredAt > GATHER_MS && Number.isFinite(startAt)) {
      evidence = await gather({ folder, file, client, startAt }, Date.now(), false)
      gatheredAt = performance.now()
    }
    screen.show(frame(title(), screen.rows()))
    await sleep(FRAME_MS)
  }
}

function frame(title: string, rows: number): string[] {
  const { fires, runs } = evidence
  const scene = {
    title,
    places: fleet.places,
    fires,
    runs,
    slotOf,
    events,
    ledger: audit(evidence),
    startAt,
    now: Date.now(),
  }
  return draw(scene, screen.style, screen.columns(), rows)
}

function show(found: readonly string[]): void {
  const ledger = audit(evidence)
  const last = screen.isLive ? frame('', Number.POSITIVE_INFINITY).slice(0, -2) : []
  screen.end()
  if (!isQuiet) screen.print(screen.isLive ? `${last.join('\n')}\n` : '')
  screen.print(isQuiet ? ledgerLine(ledger, screen.style).trim() : report(ledger, evidence, slotOf, screen.style))
  for (const problem of found) screen.print(screen.style('red', ` ✗ ${problem}`))
}

/** At every exit: restore the terminal, and leave no process and no file. */
function clearWhenEnded(): void {
  process.on('exit', () => {
    screen.end()
    fleet.killAll()
    rmSync(folder, { recursive: true, force: true })
  })
  process.on('SIGINT', () => process.exit(130))
  process.on('SIGTERM', () => process.exit(143))
}

function readArguments(): { seconds: number; isQuiet: boolean; hasDashboard: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: 'string', default: '20' },
        quiet: { type: 'boolean', default: false },
        dashboard: { type: 'boolean', default: false },
      },
    })
    const wanted = Number(values.seconds)
    const isValid = Number.isFinite(wanted) && wanted >= 5 && wanted <= 3_600
    if (isValid) return { seconds: wanted, isQuiet: values.quiet, hasDashboard: values.dashboard }
    console.error('--seconds takes a number from 5 to 3600.')
  } catch (error) {
    console.error((error as Error).message)
  }
  process.exit(2)
}

/**
 * `npm run demo`: three processes on one SQLite file. One is killed in the middle of a run, one is paused beyond its lease;
 * in the end two witnesses are compared with what had to be. `--seconds N` for how long, `--quiet` for the result alone.
 */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect } from 'cronce'
import { sqlite } from 'cronce/sqlite'
import { createPayments, gather, isSettled } from './evidence.ts'
import { createFleet, SLOTS } from './fleet.ts'
import { audit, type Evidence } from './ledger.ts'
import { draw, ledgerLine, type Told } from './picture.ts'
import { report, verdict } from './report.ts'
import { createScreen } from './screen.ts'
import { createStory, type Tell } from './story.ts'

const FRAME_MS = 100
const GATHER_MS = 250
/** What was due in the end has so long to be run; and the faults, on a slow machine, so long to happen. */
const PATIENCE_MS = 90_000

const { seconds, isQuiet } = readArguments()
const folder = await mkdtemp(join(tmpdir(), 'cronce-demo-'))
const file = join(folder, 'demo.db')
createPayments(file)
const client = await connect<DatabaseSync>({ store: sqlite(file), logger: false })
// A whole second, when all three are up.
const startAt = Math.ceil((Date.now() + 1_000) / 1_000) * 1_000
// The default is 15 seconds; shorter, so that the pause of a process beyond its lease fits into the demo.
const leaseMs = seconds >= 15 ? 3_000 : 2_000

const screen = createScreen(isQuiet)
const events: Told[] = []
const tell: Tell = (kind, what, detail) => {
  const told = { kind, what, detail, atMs: Math.max(0, Date.now() - startAt) }
  events.push(told)
  screen.event(told)
}
const fleet = createFleet(folder, { file, startAt, leaseMs }, (message, place) => story.told(message, place))
const plan = {
  killAt: startAt + seconds * 150,
  pauseAt: startAt + seconds * 400,
  restartAfterMs: seconds * 60,
  leaseMs,
}
const story = createStory(fleet, file, plan, tell)
const slotOf = (instance: string) => fleet.placeOf(instance)?.slot
const place = { folder, file, client, startAt }

let isCleared = false
const clear = (): void => {
  if (isCleared) return
  isCleared = true
  screen.end()
  fleet.killAll()
  rmSync(folder, { recursive: true, force: true })
}
process.on('exit', clear)
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => process.exit(code))
}

let evidence: Evidence = { due: new Map(), fires: [], runs: [], lines: [], payments: [], paying: '', isFinal: false }
const frame = (title: string, rows: number): string[] => {
  const scene = { title, places: fleet.places, events, startAt, now: Date.now(), slotOf }
  return draw(
    { ...scene, fires: evidence.fires, runs: evidence.runs, ledger: audit(evidence) },
    screen.style,
    screen.columns(),
    rows,
  )
}

/** Until `isDone`, or patience ends; the picture goes on meanwhile. */
async function watch(title: () => string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const endAt = Date.now() + seconds * 1_000 + PATIENCE_MS
  for (let gatheredAt = 0; !(await isDone()) && Date.now() < endAt; ) {
    if (Date.now() - gatheredAt > GATHER_MS) {
      evidence = await gather(place, Date.now(), false)
      gatheredAt = Date.now()
    }
    screen.show(frame(title(), screen.rows()))
    await sleep(FRAME_MS)
  }
}

if (!screen.isLive && !isQuiet) screen.print('cronce: every fire runs once. Three processes, one SQLite file.\n')
for (const slot of SLOTS) fleet.start(slot)
const stopStory = new AbortController()
const playing = story.play(stopStory.signal).catch((error: unknown) => {
  if (!stopStory.signal.aborted) throw error
})
const elapsed = (): number => Math.max(0, Date.now() - startAt) / 1_000
await watch(
  () => (elapsed() === 0 ? 'starting' : `${elapsed().toFixed(1)} s of ${seconds}`),
  () => elapsed() >= seconds && story.isDone(),
)
const endAt = Date.now()
stopStory.abort()
await playing
await watch(
  () => 'the last ones',
  () => isSettled(client, endAt),
)
await fleet.leave()
evidence = await gather(place, endAt, true)
const ledger = audit(evidence)
const { problems, code } = verdict(ledger, story.isDone())

const last = screen.isLive ? frame('', Number.POSITIVE_INFINITY) : []
screen.end()
if (screen.isLive) screen.print(`${last.slice(0, -2).join('\n')}\n`)
if (!screen.isLive && !isQuiet) screen.print('')
screen.print(isQuiet ? ledgerLine(ledger, screen.style).trim() : report(ledger, evidence, slotOf, screen.style))
for (const problem of problems) screen.print(screen.style('red', ` ✗ ${problem}`))
await client.close()
clear()
process.exitCode = code
// Channels of children that were killed are not waited for.
process.exit()

function readArguments(): { seconds: number; isQuiet: boolean } {
  try {
    const { values } = parseArgs({
      options: { seconds: { type: 'string', default: '20' }, quiet: { type: 'boolean', default: false } },
    })
    const wanted = Number(values.seconds)
    if (Number.isFinite(wanted) && wanted >= 5 && wanted <= 3_600) return { seconds: wanted, isQuiet: values.quiet }
    console.error('--seconds takes a number from 5 to 3600.')
  } catch (error) {
    console.error((error as Error).message)
  }
  process.exit(2)
}

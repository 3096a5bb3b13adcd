import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SYNC_POINTS } from '../sync-points.ts'
import { NEXT_CALL } from './ambush.ts'
import { isRunning, lastWriter } from './build-history.ts'
import type { Chaos } from './chaos.ts'
import { deploy } from './deploy.ts'
import type { Slot } from './fleet.ts'
import { operate } from './operators.ts'
import type { Ambush, Blow } from './order.ts'
import type { Random } from './random.ts'

/** Something that goes wrong. Resolves when it is right again; ends early when calm is wanted. */
export type Fault = (chaos: Chaos, random: Random) => Promise<void>

/** The number of cards of each fault in the deck. The seed decides the order. */
export const FAULTS: readonly (readonly [name: string, cards: number, fault: Fault])[] = [
  ['kill', 2, kill],
  ['pause', 1, pauseBeyondLease],
  ['pause until overtaken', 1, pauseUntilOvertaken],
  ['short pause', 1, pauseShortly],
  ['block', 1, block],
  ['stop', 1, stop],
  ['restart of all', 1, restartAll],
  ['deploy', 1, deploy],
  ['operator', 6, operate],
  ['clock step', 1, stepClock],
  ['full disk', 1, fillDisk],
  ['too many files', 1, useUpFiles],
  ['ambush', 2, ambush],
  ['ambush to stop', 2, (chaos, random) => ambush(chaos, random, 'stop')],
  ['ambush to lose an answer', 1, (chaos, random) => ambush(chaos, random, 'answer-lost')],
  ['ambush to lose a request', 1, (chaos, random) => ambush(chaos, random, 'request-lost')],
  ['lossy link', 1, loseCalls],
  ['stop while writing', 1, stopWhileWriting],
]

export const LOOK_MS = 20

async function kill(chaos: Chaos, random: Random): Promise<void> {
  const alive = chaos.fleet.slots.filter(({ isOver }) => !isOver)
  const free = alive.filter(({ isTaken }) => !isTaken)
  if (alive.length === 0) return
  const isFound = ['found dead by its lock', 'found dead by its lease'].map((what) => grows(chaos, what))
  // Otherwise faults that are in progress on a process would often have no effect. A restart of the fleet hits every
  // process.
  killSlot(chaos, random.pick(free.length > 0 ? free : alive))
  await comesTo(chaos, () => isFound.some((isSo) => isSo()), chaos.leaseMs)
}

export function killSlot({ recorder }: Pick<Chaos, 'recorder'>, slot: Slot): void {
  const over = recorder.fault('kill', slot.node)
  slot.signal('SIGKILL')
  over()
}

async function pauseBeyondLease(chaos: Chaos, random: Random): Promise<void> {
  const ms = random.between(chaos.leaseMs * 1.6, chaos.leaseMs * 2.7)
  await onSlot(chaos, random, (slot) => pause(chaos, slot, () => chaos.wait(ms)))
}

async function pauseShortly(chaos: Chaos, random: Random): Promise<void> {
  const ms = random.between(300, chaos.leaseMs)
  await onSlot(chaos, random, (slot) => pause(chaos, slot, () => chaos.wait(ms)))
}

/** In the middle of a run, until that was taken from it; and it is left alone until it has found out. */
async function pauseUntilOvertaken(chaos: Chaos, random: Random): Promise<void> {
  const { leaseMs } = chaos
  const ms = random.between(0, leaseMs / 4)
  const isBusy = ({ node }: Slot): boolean => isRunning(chaos.folder, node)
  const overtake = async (): Promise<void> => {
    const [isDead, isLost] = [grows(chaos, 'found dead by its lease'), grows(chaos, 'runs lost')]
    await comesTo(chaos, () => isDead() && isLost(), leaseMs * 4)
    await chaos.wait(ms)
  }
  await onSlot(
    chaos,
    random,
    async (slot) => {
      const isRefused = grows(chaos, 'refused as overtaken')
      await pause(chaos, slot, overtake, () => isBusy(slot))
      await comesTo(chaos, isRefused, leaseMs)
    },
    isBusy,
  )
}

const TRIES = 30

/** Between two writes: else it would keep all others from writing, which is another fault (`stop while writing`). */
async function pause(
  { recorder, store }: Chaos,
  slot: Slot,
  last: () => Promise<void>,
  isMoment: () => boolean = () => true,
): Promise<void> {
  const over = recorder.fault('pause', slot.node)
  for (let tries = 0; tries < TRIES; tries++) {
    slot.signal('SIGSTOP')
    while (!slot.isStopped()) await sleep(1)
    if (store.isFree() && isMoment()) {
      await last()
      break
    }
    slot.signal('SIGCONT')
    await sleep(LOOK_MS)
  }
  slot.signal('SIGCONT')
  over()
}

async function block(chaos: Chaos, random: Random): Promise<void> {
  const ms = random.between(300, chaos.leaseMs * 2)
  await onSlot(chaos, random, async (slot) => {
    slot.send({ type: 'block', ms })
    await sleep(ms)
  })
}

async function stop(chaos: Chaos, random: Random): Promise<void> {
  await onSlot(chaos, random, async (slot) => {
    slot.signal('SIGTERM')
    await slot.ended()
  })
}

async function restartAll(chaos: Chaos, random: Random): Promise<void> {
  const isGentle = random.chance(0.3)
  chaos.counters.count(isGentle ? 'all stopped' : 'all killed')
  for (const slot of chaos.fleet.slots.filter(({ isOver }) => !isOver)) {
    if (isGentle) slot.signal('SIGTERM')
    else killSlot(chaos, slot)
  }
}

/**
 * Shifts all processes if the store's clock is the host's; otherwise one, or all at once. Up to several leases forward:
 * no run may be lost.
 */
async function stepClock({ clock, recorder, counters, store, fleet }: Chaos, random: Random): Promise<void> {
  const isForward = random.chance(0.5)
  const isStores = store.clock === 'host'
  const longest = isStores ? 5_000 : 20_000
  const byMs = Math.round(isForward ? random.between(300, longest) : -random.between(200, 2_500))
  const slot = random.pick(fleet.slots)
  const isForAll = isStores || random.chance(0.5)
  const slots = isForAll ? fleet.slots : [slot]
  const stepped = isStores ? [clock] : slots.map((one) => one.clock)
  if (stepped.includes(null)) return
  const over = recorder.fault('clock step', isForAll ? null : slot.node, { sparesRuns: true })
  const at = recorder.now()
  for (const one of stepped) one?.step(byMs)
  if (isStores) recorder.add({ kind: 'clock', at, until: recorder.now(), byMs })
  recorder.log(`clock steps by ${byMs} ms`)
  counters.count(isForward ? 'clock forward' : 'clock back')
  over()
}

async function fillDisk(chaos: Chaos, random: Random): Promise<void> {
  const ms = random.between(300, 2_000)
  const { disk } = chaos.store
  if ('reason' in disk || !chaos.begin('full disk')) return
  const over = chaos.recorder.fault('full disk', null)
  disk.fill()
  await chaos.wait(ms)
  disk.free()
  over()
  chaos.over('full disk')
}

async function useUpFiles(chaos: Chaos, random: Random): Promise<void> {
  const ms = random.between(500, 2_500)
  await onSlot(chaos, random, async (slot) => {
    if (!chaos.begin('too many files')) return
    const { pid } = slot
    const over = chaos.recorder.fault('too many files', slot.node)
    const limit = (files: number): void => void spawnSync('prlimit', ['--pid', `${pid}`, `--nofile=${files}:`])
    limit(openFiles(pid))
    await chaos.wait(ms)
    limit(1_024)
    over()
    chaos.over('too many files')
  })
}

function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** Points that every process passes often. */
const POINTS = SYNC_POINTS.filter((point) => point !== 'recover:sent' && point !== 'declare:sent')
const BLOWS: readonly Blow[] = ['kill', 'stop', 'block', 'answer-lost', 'request-lost']
/** A process that has not reached the point within this time will not reach it. */
const AMBUSH_MS = 3_000

async function ambush(chaos: Chaos, random: Random, wanted?: Blow): Promise<void> {
  const isLost = wanted === 'answer-lost' || wanted === 'request-lost'
  const points = POINTS.filter((point) => chaos.transacts || point !== 'transaction:sent')
  let isStruck = false
  do {
    const order: Ambush = {
      // What is wanted must be possible there.
      point: random.pick(isLost ? points.filter((point) => NEXT_CALL[point] !== undefined) : points),
      nth: Math.ceil(random.next() * 3),
      blow: wanted ?? random.pick(BLOWS),
      ms: random.between(chaos.leaseMs * 0.5, chaos.leaseMs * 2),
    }
    const stopMs = random.between(300, chaos.leaseMs * 2.5)
    await onSlot(chaos, random, async (slot) => {
      chaos.recorder.log(`ambush for ${slot.node}: ${order.blow} at ${order.point}`)
      isStruck = await strike(chaos, slot, order, stopMs)
    })
    // A fault that is requested by name must happen: at another point, in another process, if this one never reached
    // it.
  } while (!isStruck && wanted !== undefined && !chaos.isCalm())
}

/** Whether it reached the point. */
async function strike(chaos: Chaos, slot: Slot, order: Ambush, stopMs: number): Promise<boolean> {
  const { strikes } = slot
  const isStruck = (): boolean => slot.strikes > strikes || slot.isStopped()
  slot.send({ type: 'ambush', ambush: order })
  const cameBy = await comesTo(chaos, isStruck, AMBUSH_MS)
  if (cameBy && order.blow === 'stop' && (await comesTo(chaos, slot.isStopped, AMBUSH_MS))) await chaos.wait(stopMs)
  if (cameBy && order.blow === 'block') await chaos.wait(order.ms)
  slot.send({ type: 'ambush', ambush: null })
  slot.signal('SIGCONT')
  // Another fault may have ended it. A killed process reports nothing.
  return slot.strikes > strikes || (cameBy && order.blow === 'kill')
}

async function loseCalls(chaos: Chaos, random: Random): Promise<void> {
  const rate = random.between(0.1, 0.5)
  const ms = random.between(500, 2_500)
  await onSlot(chaos, random, async (slot) => {
    const over = chaos.recorder.fault('lossy link', slot.node)
    slot.send({ type: 'lossy', rate })
    await chaos.wait(ms)
    slot.send({ type: 'lossy', rate: 0 })
    over()
  })
}

export async function stopWhileWriting(chaos: Chaos, random: Random): Promise<void> {
  const ms = random.between(200, 900)
  let isDone = false
  const stop = async (slot: Slot): Promise<void> => {
    slot.send({ type: 'stop-writing', wanted: true })
    isDone = await comesTo(chaos, slot.isStopped, AMBUSH_MS)
    if (isDone) await chaos.wait(ms)
    slot.send({ type: 'stop-writing', wanted: false })
    slot.signal('SIGCONT')
  }
  // The last writer may be killed before it writes again, or leave the writing to its peers.
  while (!isDone && !chaos.isCalm()) {
    const writer = lastWriter(chaos.folder)
    await onSlot(chaos, random, stop, ({ node }) => node === writer)
  }
}

/** Whether it has happened again since. */
function grows({ counters }: Chaos, what: string): () => boolean {
  const before = counters.of(what)
  return () => counters.of(what) > before
}

/** Whether it is so within this time. */
async function comesTo(chaos: Chaos, isSo: () => boolean, ms: number): Promise<boolean> {
  const end = chaos.recorder.now() + ms
  while (!isSo()) {
    if (chaos.recorder.now() > end || chaos.isCalm()) return false
    await sleep(LOOK_MS)
  }
  return true
}

/** On a process that nothing else is being done to, as soon as there is one. */
export async function onSlot(
  chaos: Chaos,
  random: Random,
  fault: (slot: Slot) => Promise<void>,
  isPreferred: (slot: Slot) => boolean = () => false,
): Promise<void> {
  const wanted = random.next()
  while (!chaos.isCalm()) {
    const free = chaos.fleet.slots.filter(({ isReady, isTaken }) => isReady && !isTaken)
    const slot = free.find(isPreferred) ?? free[Math.floor(wanted * free.length)]
    if (slot === undefined) {
      await sleep(LOOK_MS)
      continue
    }
    slot.isTaken = true
    await fault(slot)
    slot.isTaken = false
    return
  }
}

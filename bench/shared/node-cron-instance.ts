import { setTimeout as sleep } from 'node:timers/promises'
import { type ScheduledTask, setLogger } from 'node-cron'
import { answerParent, tally } from './answering.ts'

/** Decides which of several instances runs a fire, because node-cron itself does not. */
export interface Coordination {
  /** Connections first: logging in is not what is measured. */
  connect(): Promise<void>
  /** A task of every second that calls `run` where this instance is the one to run it. */
  schedule(number: number, run: (dueAt: number) => void): ScheduledTask
  /** Fires that are being asked about, run or finished. */
  underWay(): number
  close(): void
}

const DRAIN_MS = 10_000

/** node-cron as it is used on several instances: each has all schedules, and a lock decides which one runs. */
export function serveNodeCron(coordination: Coordination): void {
  const counts = tally()
  // What it misses shows in the figures.
  setLogger({ info() {}, warn() {}, error() {}, debug() {} })
  const tasks: ScheduledTask[] = []
  let wanted = 0

  answerParent(counts, {
    create: async ({ load }) => {
      if (load.kind !== 'together' || load.intervalMs !== 1_000) throw new Error('Only every second.')
      wanted = load.count
      return undefined
    },
    start: async () => {
      await coordination.connect()
      for (let number = 0; number < wanted; number++) {
        tasks.push(coordination.schedule(number, (dueAt) => run(number, dueAt)))
      }
      return undefined
    },
    stop: async () => {
      await Promise.all(tasks.map((task) => task.destroy()))
      // An overloaded instance is late and has a backlog. What is not done by then counts as not run.
      for (const end = Date.now() + DRAIN_MS; coordination.underWay() > 0 && Date.now() < end; ) await sleep(20)
      coordination.close()
      return undefined
    },
  })

  function run(number: number, dueAt: number): void {
    counts.starts.push([number, dueAt, Date.now() - dueAt, 1])
    counts.ended++
    counts.lastEndedAt = Date.now()
  }
}

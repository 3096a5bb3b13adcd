import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type FireView } from 'cronce'

const ROOT = join(import.meta.dirname, '../..')
const CLI = join(ROOT, 'packages/cli/bin/cronce.js')
/** Far beyond any delay of a busy machine: a wait that takes this long has failed. */
const DEADLINE_MS = 180_000
const LOOK_MS = 20
/** How often a signal may come too late, because the run has ended before it. */
const TRIES = 20
const JOB = 'report'

export interface Recipe {
  /** What starts one replica, below the repository, or with absolute paths. */
  readonly command: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** @default a new SQLite file */
  readonly store?: string
  /** How a replica ends that got SIGTERM. @default an exit with 0 */
  readonly end?: { readonly code: number | null; readonly signal: string | null }
}

/** One process of a recipe, and what it printed. */
class Replica {
  readonly #child: ChildProcess
  /** How it ended; when all that it printed is read. */
  readonly closed: Promise<{ readonly code: number | null; readonly signal: string | null }>
  #output = ''
  isKilled = false

  constructor([command, ...args]: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    const inherited = { ...process.env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/cronce-processes') }
    this.#child = spawn(command!, args, { cwd, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    }
    this.closed = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code, signal) => resolve({ code, signal }))
    })
  }

  get output(): string {
    return this.#output
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get url(): string | undefined {
    return /(?:listening on|Local:) +(http:\S+)/.exec(this.#output)?.[1]
  }

  /** Due times of the runs that it has completed. */
  get done(): readonly number[] {
    return [...this.#output.matchAll(/^done (\d+)$/gm)].map(([, dueAt]) => Number(dueAt))
  }

  /** Due time of the run that it is in. */
  get open(): number | undefined {
    const begun = [...this.#output.matchAll(/^began (\d+), attempt \d+$/gm)].map(([, dueAt]) => Number(dueAt))
    return begun.find((dueAt) => !this.done.includes(dueAt))
  }

  end(signal: NodeJS.Signals): typeof this.closed {
    this.#child.kill(signal)
    return this.closed
  }
}

/** The replicas of one recipe on one store. */
class Fleet {
  readonly #recipe: Recipe
  readonly #folder: string
  readonly store: string
  readonly replicas: Replica[] = []

  constructor(recipe: Recipe, folder: string) {
    this.#recipe = recipe
    this.#folder = folder
    this.store = recipe.store ?? `sqlite:${join(folder, 'recipe.db')}`
  }

  get live(): readonly Replica[] {
    return this.replicas.filter(({ hasEnded }) => !hasEnded)
  }

  /** Resolves when it says that it is ready. */
  async start(): Promise<void> {
    const { command, cwd = this.#folder, env } = this.#recipe
    const replica = new Replica(command, cwd, { STORE: this.store, PORT: '0', ...env })
    this.replicas.push(replica)
    await this.until('a replica is ready', async () => {
      if (replica.url === undefined) return undefined
      const answer = await fetch(new URL('/readyz', replica.url)).catch(() => null)
      return answer?.status === 200 || undefined
    })
  }

  async until<Found>(what: string, look: () => Found | undefined | Promise<Found | undefined>): Promise<Found> {
    const giveUpAt = performance.now() + DEADLINE_MS
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (performance.now() > giveUpAt) assert.fail(`waited in vain until ${what}:\n${this.output}`)
      await sleep(LOOK_MS)
    }
  }

  /**
   * Signal a replica in the middle of a run. If the run ended before the signal came, as it may on a busy machine, the replica is
   * replaced and the next run counts.
   */
  async signalInRun(
    signal: NodeJS.Signals,
    isInTime: (replica: Replica, dueAt: number) => boolean,
  ): Promise<readonly [Replica, number, unknown]> {
    for (let tries = 0; tries < TRIES; tries++) {
      const replica = await this.until('a replica is in a run', () => this.live.find(({ open }) => open !== undefined))
      const dueAt = replica.open!
      replica.isKilled = signal === 'SIGKILL'
      const end = await replica.end(signal)
      await this.start()
      if (isInTime(replica, dueAt)) return [replica, dueAt, end]
    }
    return assert.fail(`every ${signal} came too late:\n${this.output}`)
  }

  async stop(): Promise<readonly unknown[]> {
    return Promise.all(this.live.map((replica) => replica.end('SIGTERM')))
  }

  kill(): Promise<unknown> {
    return Promise.all(this.live.map((replica) => replica.end('SIGKILL')))
  }

  get output(): string {
    return this.replicas.map(({ output }, index) => `--- replica ${index + 1}\n${output}`).join('')
  }
}

/**
 * Two replicas of a recipe on one store. One is killed in the middle of a run, one is stopped in the middle of a run, and each is
 * replaced: every fire has run once, apart from the interrupted attempt, which a peer repeats.
 */
export async function proveRecipe(context: TestContext, recipe: Recipe): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cronce-recipe-')))
  const fleet = new Fleet(recipe, folder)
  context.after(async () => {
    await fleet.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  const end = recipe.end ?? { code: 0, signal: null }
  await Promise.all([fleet.start(), fleet.start()])

  const [, interrupted] = await fleet.signalInRun('SIGKILL', ({ open }, dueAt) => open === dueAt)
  await fleet.until('a peer has repeated it', () => fleet.live.find(({ done }) => done.includes(interrupted)))
  const [stopped, drained, ended] = await fleet.signalInRun('SIGTERM', () => true)
  assert.deepEqual(ended, end, fleet.output)
  assert.ok(stopped.done.includes(drained), `the run did not finish:\n${fleet.output}`)
  await fleet.until('a later fire has run', () => fleet.live.find(({ done }) => done.some((at) => at > drained)))
  assert.deepEqual(await fleet.stop(), [end, end], fleet.output)

  await judge(fleet, interrupted)
}

async function judge(fleet: Fleet, interrupted: number): Promise<void> {
  const client = await connect({ store: fleet.store, logger: false })
  try {
    const fires: FireView[] = []
    for await (const fire of client.fires.all({ schedule: JOB })) fires.push(fire)
    const dues = fires.map(({ dueAt }) => dueAt)
    assert.equal(new Set(dues).size, dues.length, 'one record for each fire')
    const succeeded = fires.filter(({ state }) => state === 'succeeded').map(({ dueAt }) => dueAt)
    // A killed replica may have completed a run that was not on record yet: at-least-once.
    const survived = fleet.replicas.filter(({ isKilled }) => !isKilled).flatMap(({ done }) => done)
    assert.deepEqual(survived.toSorted(), [...new Set(survived)].toSorted(), `a fire has run twice:\n${fleet.output}`)
    assert.deepEqual(
      [...new Set(fleet.replicas.flatMap(({ done }) => done))].toSorted(),
      succeeded.toSorted(),
      `what ran is on record, and nothing else:\n${fleet.output}`,
    )
    assert.equal(fires.find(({ dueAt }) => dueAt === interrupted)?.attempt, 2, fleet.output)
  } finally {
    await client.close()
  }
  const verified = new Replica([process.execPath, CLI, 'fires', '--verify', '--store', fleet.store], ROOT, {})
  assert.deepEqual(await verified.closed, { code: 0, signal: null }, verified.output)
}

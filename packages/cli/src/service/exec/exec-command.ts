import type { Run } from 'cronce'
import { CronceError } from 'cronce/cron'
import { type CommandEnd, superviseRun } from 'cronce/internal'
import { aborted } from '../../aborted.ts'
import { handedOn } from './command-env.ts'
import type { ExecPlan } from './exec-plan.ts'
import { isExpectedInput } from './expected-rule.ts'

/** What this process runs, and how it ended. */
export interface OwnRun {
  readonly dueAt: number
  end: CommandEnd | null
  /** It could not be started: why. */
  refused: CronceError | null
  /** It was ended, or not even started, since the run was over: by its timeout, by an operator, or because another host may run it. */
  aborted: string | null
}

export interface CommandRunner {
  /** The handler of the job. */
  run(run: Run): Promise<{ readonly exitCode: number }>
  /** Pass a signal on to what runs. False: nothing does. */
  forward(signal: NodeJS.Signals): boolean
  /** In the order of their start. */
  readonly runs: readonly OwnRun[]
  readonly isRunning: boolean
  /** Resolves when nothing runs. */
  idle(): Promise<void>
}

export interface RunnerHooks {
  /** It was ended by SIGTERM: this host goes, so that the fire is for another one. Stop the app. */
  readonly giveBack: () => void
  readonly onStart: (run: Run) => void
}

export function commandRunner(plan: ExecPlan, hooks: RunnerHooks): CommandRunner {
  return new InheritingRunner(plan, hooks)
}

/** Runs the command with the streams of this process. */
class InheritingRunner implements CommandRunner {
  readonly runs: OwnRun[] = []
  readonly #plan: ExecPlan
  readonly #hooks: RunnerHooks
  /** Sends a signal to the command. `null`: none has started. */
  #send: ((signal: NodeJS.Signals) => void) | null = null
  #forwarded: NodeJS.Signals | null = null
  #running: PromiseWithResolvers<void> | null = null

  constructor(plan: ExecPlan, hooks: RunnerHooks) {
    this.#plan = plan
    this.#hooks = hooks
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  async idle(): Promise<void> {
    return this.#running?.promise
  }

  forward(signal: NodeJS.Signals): boolean {
    this.#forwarded = signal
    this.#send?.(signal)
    return this.#running !== null
  }

  /** A property, because the app calls it as the handler of the job. */
  readonly run = async (run: Run): Promise<{ readonly exitCode: number }> => {
    const own: OwnRun = { dueAt: run.fire.dueAt, end: null, refused: null, aborted: null }
    const running = Promise.withResolvers<void>()
    this.runs.push(own)
    this.#running = running
    this.#hooks.onStart(run)
    try {
      const end = await this.#supervise(run, own)
      if (end.exitCode === 0) return { exitCode: 0 }
      if (run.signal.aborted) own.aborted = codeOf(run.signal.reason)
      run.signal.throwIfAborted()
      if (this.#forwarded === 'SIGTERM') {
        this.#hooks.giveBack()
        await aborted(run.signal)
        throw run.signal.reason
      }
      throw commandFailed(this.#plan.command[0], end, this.#forwarded !== null)
    } catch (error) {
      if (own.end === null && run.signal.aborted) own.aborted = codeOf(run.signal.reason)
      else if (own.end === null && error instanceof CronceError) own.refused = error
      throw error
    } finally {
      running.resolve()
      this.#running = null
      this.#send = null
    }
  }

  async #supervise(run: Run, own: OwnRun): Promise<CommandEnd> {
    const [file, ...args] = this.#plan.command
    const end = await superviseRun(
      run,
      {
        file,
        args,
        env: { CRONCE_K8S_JOB: null, ...handedOn(process.env) },
        ...(isExpectedInput(run.fire.input) ? { input: null } : {}),
      },
      {
        graceMs: this.#plan.graceMs,
        output: 'inherit',
        onStarted: ({ send }) => {
          this.#send = send
          if (this.#forwarded !== null) send(this.#forwarded)
        },
      },
    )
    own.end = end
    return end
  }
}

function codeOf(reason: unknown): string {
  const { code } = (reason ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** A command that was interrupted is not tried again. */
function commandFailed(name: string, { exitCode, signal }: CommandEnd, isInterrupted: boolean): CronceError {
  const how = exitCode === null ? `was ended by ${signal}` : `exited with ${exitCode}`
  const error = new CronceError('COMMAND_FAILED', `The command ${JSON.stringify(name)} ${how}.`, {
    hint: 'Look at what it wrote.',
  })
  return Object.assign(error, { exitCode, signal, ...(isInterrupted ? { retryable: false } : {}) })
}

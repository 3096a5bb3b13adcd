import type { TargetRun } from './target-run.ts'

type Execute<Result> = (run: TargetRun) => Promise<Result>

/** A target as a handler. */
export interface TargetHandler<Result = unknown> {
  (run: TargetRun): Promise<Result>
  /**
   * Loads the modules that its runs need. An app does so when it starts: a run must not depend on files that a deployment may
   * have replaced since, or on a free file descriptor.
   */
  load(): Promise<void>
  /** Of a target whose endpoint says later how a run ended: the secrets that sign its callbacks. */
  readonly callbackSecrets?: readonly string[] | undefined
}

/** An application that only declares jobs does not pay for the modules that execute them. */
export function loadedTarget<Result>(load: () => Promise<Execute<Result>>): TargetHandler<Result> {
  let loading: Promise<Execute<Result>> | undefined
  const loaded = (): Promise<Execute<Result>> => {
    loading ??= load().catch((error: unknown) => {
      // The next call tries again.
      loading = undefined
      throw error
    })
    return loading
  }
  const handle = async (run: TargetRun): Promise<Result> => (await loaded())(run)
  return Object.assign(handle, { load: async () => void (await loaded()) })
}

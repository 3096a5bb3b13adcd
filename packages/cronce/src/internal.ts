/**
 * `cronce/internal`: what the other packages of this repository share with the library. They depend on exactly its version;
 * applications must not, since it may change in any release.
 */
export { callbackProof } from './app/handle-callback.ts'
export { fireProof } from './app/handle-fire-auth.ts'
export { NEAREST_TOLERANCE_MS, type NearestInstant, nearestInstant } from './app/nearest-instant.ts'
export { execApp, isOfExec, needsInstance } from './client/exec-app.ts'
export { upcomingInstants } from './client/upcoming-instants.ts'
export { didYouMean } from './did-you-mean.ts'
export { isExclusive, isNobodys, LEADER_JOB } from './model/exclusive-jobs.ts'
export { earlierRuns, environmentFor, withoutSecrets } from './target/command/run-environment.ts'
export {
  type CommandEnd,
  type CommandSpec,
  type SuperviseOptions,
  superviseCommand,
} from './target/command/supervise.ts'
export { nameOfPart, pathPart } from './target/http/path-part.ts'
export type { TargetRun } from './target/target-run.ts'

/**
 * `cronce/internal`: what the other packages of this repository share with the library. They depend on exactly its version;
 * applications must not, since it may change in any release. `scripts/internal-exports.ts` lists who uses what, and why.
 */
export { type Declaration, declarationOf, onlyDeclaring } from './app/declaration.ts'
export { callbackProof } from './app/handle-callback.ts'
export { fireProof } from './app/handle-fire-auth.ts'
export { nearestInstant } from './app/nearest-instant.ts'
export { storeSource } from './app/open-store.ts'
export { surroundLike } from './app/surroundings.ts'
export { cronOfWords } from './client/cron-words.ts'
export { execApp, isOfExec, needsInstance } from './client/exec-app.ts'
export { EXPECTED_RULE, expectedInput } from './client/expected-rule.ts'
export { viewSchedule } from './client/make-view.ts'
export { nameHint } from './client/option-hints.ts'
export { filteredPage } from './client/pages.ts'
export { readDefinition } from './client/read-definition.ts'
export { upcomingInstants } from './client/upcoming-instants.ts'
export { didYouMean } from './did-you-mean.ts'
export { labelCap } from './metrics/collect.ts'
export { CONTENT_TYPE, exposition, type Family } from './metrics/exposition.ts'
export { FLEET_SUBJECTS, type Problem, type Rule } from './model/alert.ts'
export {
  DETECT_JOB,
  HEARTBEAT_PREFIX,
  isExclusive,
  isInternal,
  isRunByCaller,
  LEADER_JOB,
  SLOT_JOB,
  SLOT_PREFIX,
} from './model/exclusive-jobs.ts'
export { ending } from './model/outcome.ts'
export { unplacedJob } from './model/placement.ts'
export type { Decision } from './policy/decision.ts'
export { recover } from './policy/end/recover.ts'
export { settle } from './policy/end/settle.ts'
export { decideOn } from './policy/plan/decide-on.ts'
export { type QueryIn, queryIn } from './store/postgres/tx.ts'
export { sqliteAt } from './store/sqlite/sqlite.ts'
export type { CommandEnd } from './target/command/supervise.ts'
export { superviseRun } from './target/command/supervise-run.ts'
export { recordedThresholds } from './watch/job-thresholds.ts'
export { skewed } from './watch/rules/clock.ts'
export { isDuplicate } from './watch/rules/duplicate.ts'
export type { ScheduleEnd } from './watch/rules/facts.ts'
export { liveDeployments } from './watch/rules/fleet.ts'
export { judgeFleet, judgeSchedule } from './watch/rules/judge.ts'
export { dueSince } from './watch/rules/overdue.ts'
export { longestMs } from './watch/rules/stuck.ts'
export { THRESHOLDS, type Thresholds } from './watch/rules/thresholds.ts'
export { shellWord } from './words.ts'

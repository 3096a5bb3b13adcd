import { ACCESS_MUTANTS } from './catalogue/access.ts'
import { ACTIVITY_MUTANTS, DETECT_MUTANTS } from './catalogue/activity.ts'
import { AFTER_STALL_MUTANTS } from './catalogue/after-stall.ts'
import { APP_MUTANTS } from './catalogue/apps.ts'
import { BEAT_MUTANTS } from './catalogue/beat.ts'
import { CALENDAR_MUTANTS } from './catalogue/calendar.ts'
import { CLAIM_AHEAD_MUTANTS } from './catalogue/claim-ahead.ts'
import { COMMAND_MUTANTS } from './catalogue/commands.ts'
import { DEPLOYMENT_MUTANTS } from './catalogue/deployments.ts'
import { ETCD_MUTANTS } from './catalogue/etcd.ts'
import { EXCLUSIVE_MUTANTS } from './catalogue/exclusive.ts'
import { FEED_MUTANTS } from './catalogue/feed.ts'
import { FORM_MUTANTS } from './catalogue/forms.ts'
import { GUARD_MUTANTS } from './catalogue/guards/guards.ts'
import { MEMORY_MUTANTS } from './catalogue/memory.ts'
import { METRICS_MUTANTS } from './catalogue/metrics.ts'
import { NODE_CRON_MUTANTS } from './catalogue/node-cron.ts'
import { OUTSIDE_MUTANTS } from './catalogue/outside.ts'
import { PLACE_MUTANTS } from './catalogue/places.ts'
import { PLAN_MUTANTS } from './catalogue/plan.ts'
import { POSTGRES_MUTANTS } from './catalogue/postgres.ts'
import { PREDICTION_MUTANTS } from './catalogue/predict.ts'
import { REDIS_MUTANTS } from './catalogue/redis.ts'
import { RUN_MUTANTS } from './catalogue/runs.ts'
import { SETTLE_MUTANTS } from './catalogue/settle.ts'
import { SQLITE_MUTANTS } from './catalogue/sqlite.ts'
import { TURN_MUTANTS } from './catalogue/turn.ts'
import { WAITING_MUTANTS } from './catalogue/waiting.ts'
import { WATCH_MUTANTS } from './catalogue/watch.ts'
import { ZOOKEEPER_MUTANTS } from './catalogue/zookeeper.ts'
import type { Mutant } from './mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  ...MEMORY_MUTANTS,
  ...ACTIVITY_MUTANTS,
  ...ACCESS_MUTANTS,
  ...DETECT_MUTANTS,
  ...FEED_MUTANTS,
  ...PLAN_MUTANTS,
  ...CALENDAR_MUTANTS,
  ...TURN_MUTANTS,
  ...WAITING_MUTANTS,
  ...SETTLE_MUTANTS,
  ...COMMAND_MUTANTS,
  ...DEPLOYMENT_MUTANTS,
  ...APP_MUTANTS,
  ...PLACE_MUTANTS,
  ...FORM_MUTANTS,
  ...OUTSIDE_MUTANTS,
  ...EXCLUSIVE_MUTANTS,
  ...NODE_CRON_MUTANTS,
  ...RUN_MUTANTS,
  ...CLAIM_AHEAD_MUTANTS,
  ...WATCH_MUTANTS,
  ...AFTER_STALL_MUTANTS,
  ...BEAT_MUTANTS,
  ...METRICS_MUTANTS,
  ...SQLITE_MUTANTS,
  ...PREDICTION_MUTANTS,
  ...POSTGRES_MUTANTS,
  ...REDIS_MUTANTS,
  ...ETCD_MUTANTS,
  ...ZOOKEEPER_MUTANTS,
  ...GUARD_MUTANTS,
]

export function findMutant(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name)
  if (found === undefined) throw new Error(`There is no mutant named '${name}'.`)
  return found
}

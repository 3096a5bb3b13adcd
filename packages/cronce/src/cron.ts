/** The published entry `cronce/cron`. */
export { ERROR_CODES, type ErrorCode, type ErrorMeaning } from './error-codes.ts'
export { CronceError } from './errors.ts'
export { at } from './trigger/at.ts'
export { cron } from './trigger/cron.ts'
export { CronError, type CronErrorCode, type FieldName } from './trigger/cron-error.ts'
export { type EveryOptions, every } from './trigger/every.ts'
export { trigger } from './trigger/from-data.ts'
export { stats, type TriggerStats, type ZoneEffect } from './trigger/stats.ts'
export type {
  AtData,
  AtTrigger,
  CalendarData,
  CronData,
  CronFields,
  CronOptions,
  CronTrigger,
  DayField,
  EveryData,
  EveryTrigger,
  ExcludedRule,
  ExcludedTimes,
  SpecialDay,
  Timeline,
  Trigger,
  TriggerData,
} from './trigger/trigger.ts'

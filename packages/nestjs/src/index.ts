/** The published entry `@cronce/nestjs`. The dashboard has an entry of its own. */
export { CronExpression } from './cron-expression.ts'
export type { CronOptions } from './cron-options.ts'
export { CronceLifecycle } from './cronce-lifecycle.ts'
export { CronceModule, type CronceModuleAsyncOptions, type CronceModuleOptions } from './cronce-module.ts'
export { Cronce } from './cronce-token.ts'
export { Cron, InjectCronce, Interval, Job, type JobDecorator, Timeout } from './decorators.ts'
export { type CronceHealth, CronceHealthIndicator } from './health.ts'
export { CronJob, SchedulerRegistry, type SchedulerType } from './scheduler-registry.ts'

import type { ApsJob, ApsScheduler } from './apscheduler.ts'
import type { Command } from './command.ts'
import type { CronJob } from './cron-job.ts'
import type { CrontabFile, CrontabLine } from './crontab.ts'
import type { CrontabAppend } from './crontab-append.ts'
import type { ProcessType } from './declaration.ts'
import type { Schedule } from './schedule.ts'
import type { SystemdTimer } from './systemd-timer.ts'
import type { Unit } from './unit.ts'
import type { Workflow } from './workflow.ts'

/** Everything that readers find. A new kind of fact is one more line here. */
export type Fact =
  | Schedule
  | Unit
  | ProcessType
  | Command
  | CronJob
  | Workflow
  | ApsScheduler
  | ApsJob
  | CrontabLine
  | CrontabFile
  | CrontabAppend
  | SystemdTimer

export type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>

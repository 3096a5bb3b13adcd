import type { ApsJob, ApsScheduler } from './apscheduler.ts'
import type { Command } from './command.ts'
import type { CronJob } from './cron-job.ts'
import type { CrontabFile, CrontabLine } from './crontab.ts'
import type { CrontabAppend } from './crontab-append.ts'
import type { CrontabInstalledTwice, CrontabOverwrite } from './crontab-install.ts'
import type { StartCommand } from './start-command.ts'
import type { SystemdTimer } from './systemd-timer.ts'
import type { Workflow } from './workflow.ts'

/** What Python modules, manifests, crontabs and scripts say. */
export type FileFact =
  | Command
  | CronJob
  | Workflow
  | ApsScheduler
  | ApsJob
  | CrontabLine
  | CrontabFile
  | CrontabAppend
  | CrontabInstalledTwice
  | CrontabOverwrite
  | SystemdTimer
  | StartCommand

import { isRunByCaller } from '../model/exclusive-jobs.ts'
import type { ScheduleView } from './views.ts'

const PREFIX = 'exec:'

/** The app that fires of `cronce exec --name NAME` are of. */
export function execApp(name: string): string {
  return `${PREFIX}${name}`
}

/** Whether `cronce exec` made it. Each call of that command runs it, so no instance has to be up in between. */
export function isOfExec({ app }: Pick<ScheduleView, 'app'>): boolean {
  return app?.startsWith(PREFIX) ?? false
}

/** Whether the schedule needs an instance: not while it only waits for a trigger, nor if its caller runs it. */
export function needsInstance(view: Pick<ScheduleView, 'app' | 'job' | 'trigger' | 'open'>): boolean {
  return !isOfExec(view) && !isRunByCaller(view.job) && (view.trigger !== null || view.open.length > 0)
}

import { isRunByCaller } from '../model/exclusive-jobs.ts'
import type { ScheduleView } from './views.ts'

const PREFIX = 'exec:'

/** The app that fires of `cronce exec --name NAME` are of. */
export function execApp(name: string): string {
  return `${PREFIX}${name}`
}

/** Whether `cronce exec` made it: whoever calls that runs it, and nobody has to be there in between. */
export function isOfExec({ app }: Pick<ScheduleView, 'app'>): boolean {
  return app?.startsWith(PREFIX) ?? false
}

/** Whether an instance has to be there for it: not while it only waits to be triggered, nor for what whoever wants it runs. */
export function needsInstance(view: Pick<ScheduleView, 'app' | 'job' | 'trigger' | 'open'>): boolean {
  return !isOfExec(view) && !isRunByCaller(view.job) && (view.trigger !== null || view.open.length > 0)
}

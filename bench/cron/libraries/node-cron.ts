import { createTask } from 'node-cron'
import type { Library } from '../library.ts'

interface TimeMatcher {
  getNextMatch(from: Date): Date
}

// What is published can only be asked from the present moment, and a task carries timers and listeners. The matcher
// inside the task is what the others offer, so it stands in for node-cron, to its advantage.
const task = createTask('* * * * *', () => {}) as unknown as { timeMatcher: TimeMatcher }
const Matcher = task.timeMatcher.constructor as new (expression: string, zone: string | undefined) => TimeMatcher

export const library: Library<TimeMatcher> = {
  zones: true,
  parse: (expression, zone) => new Matcher(expression, zone),
  next: (schedule, from) => schedule.getNextMatch(new Date(from)).getTime(),
}

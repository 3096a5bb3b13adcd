import type { Schedule } from '../facts/schedule.ts'

/** Whether two instances would run the same fire, with an effect. */
export function isUnguarded({ runner, guard, when, handler, isUnreached, isDynamic }: Schedule): boolean {
  if (runner !== 'process' || when.kind === 'once' || isUnreached === true || isDynamic) return false
  return (
    (guard.kind === 'none' || guard.kind === 'ineffective') &&
    (handler.effect === 'unknown' || handler.effect === 'set-based')
  )
}

import type { Counted } from '../schedule-times.ts'
import { counted } from './say.ts'

/** `no instant`, `1 instant`, `more than 1,000 instants`. */
export function instantsWords({ count, more }: Counted): string {
  if (more) return `more than ${counted(count, 'instant')}`
  return count === 0 ? 'no instant' : counted(count, 'instant')
}

import type { SyncPoint } from '../packages/cronce/src/engine/parts.ts'

/** All moments at which an engine can be held up or struck. */
export const SYNC_POINTS = [
  'due:sent',
  'claim:sent',
  'claim:answered',
  'run:starting',
  'run:returned',
  'settle:sent',
  'settle:answered',
  'beat:sent',
  'step:sent',
  'step:answered',
  'transaction:sent',
  'recover:sent',
  'declare:sent',
] as const satisfies readonly SyncPoint[]

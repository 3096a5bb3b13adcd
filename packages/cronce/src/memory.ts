/** The published entry `cronce/memory`. */
export { copyData, type MemoryData, type NamespaceData, type StoredInstance } from './store/memory/data.ts'
export { hashData } from './store/memory/hash.ts'
export { type MemoryOptions, type MemorySource, memory } from './store/memory/memory.ts'
export type { MemoryTransaction } from './store/memory/transaction.ts'

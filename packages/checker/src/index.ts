export type * from './history.ts'
export { type Counts, PROPERTIES, type Property, type Verdict, type Violation } from './verdict.ts'

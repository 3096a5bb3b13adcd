export type * from './history.ts'
export { judge } from './judge.ts'
export { type Matching, matchWindows, type Window } from './match-windows.ts'
export { type Counts, PROPERTIES, type Property, type Verdict, type Violation } from './verdict.ts'

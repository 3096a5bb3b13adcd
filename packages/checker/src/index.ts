export type * from './history.ts'
export { judge } from './judge.ts'
export { judgeLedger } from './ledger/judge-ledger.ts'
export { excludedInstants, expressionInstants, intervalInstants } from './ledger/rule-instants.ts'
export type {
  LedgerCounts,
  LedgerRule,
  LedgerSubject,
  LedgerVerdict,
  Overdue,
  RetiredStretch,
  Retirement,
  Stretch,
} from './ledger/subject.ts'
export { type Matching, matchWindows, type Window } from './match-windows.ts'
export { renderText } from './timeline/render-text.ts'
export { renderTimeline, type TimelineOptions } from './timeline/render-timeline.ts'
export { type Counts, PROPERTIES, type Property, type Verdict, type Violation } from './verdict.ts'

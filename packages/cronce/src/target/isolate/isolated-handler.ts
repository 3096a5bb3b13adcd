import type { TargetRun } from '../target-run.ts'
import type { IsolateOptions } from './isolate-options.ts'

export function isolatedHandler(_job: string, _options: IsolateOptions): (run: TargetRun) => Promise<unknown> {
  throw new Error('being written')
}

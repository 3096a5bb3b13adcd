import type { TargetRun } from '../target-run.ts'
import type { HttpOptions } from './http-options.ts'

export function httpHandler(_job: string, _options: HttpOptions): (run: TargetRun) => Promise<unknown> {
  throw new Error('being written')
}

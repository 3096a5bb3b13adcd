import { table } from './table.ts'

/** What was meant to be reached, and what was. */
export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly pass: boolean
}

export function atLeast(what: string, limit: number, measured: number): Bar {
  return { what, limit: `≥ ${limit.toLocaleString('en-US')}`, measured: rounded(measured), pass: measured >= limit }
}

export function atMost(what: string, limit: number, measured: number): Bar {
  return { what, limit: `≤ ${rounded(limit)}`, measured: rounded(measured), pass: measured <= limit }
}

export function below(what: string, limit: number, measured: number): Bar {
  return { what, limit: `< ${rounded(limit)}`, measured: rounded(measured), pass: measured < limit }
}

export function barTable(bars: readonly Bar[]): string {
  return table(
    ['bar', 'limit', 'measured', ''],
    bars.map(({ what, limit, measured, pass }) => [what, limit, measured, pass ? 'PASS' : 'FAIL']),
  )
}

export function processes({ instances }: { readonly instances: number }): string {
  return instances === 1 ? '1 process' : `${instances} processes`
}

function rounded(value: number): string {
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)
}

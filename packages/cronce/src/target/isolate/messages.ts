import type { Json } from '../../model/json.ts'
import type { LogLine } from '../../model/record.ts'
import type { Fire, Previous } from '../../run/run.ts'

/** What a task must know of its run; all of it can be JSON. */
export interface TaskOrder {
  /** Its default export is the handler. */
  readonly file: string
  readonly namespace: string
  readonly fire: Fire<unknown>
  readonly attempt: number
  readonly token: string
  readonly instance: string
  readonly previous: Previous
}

/** An error as far as it can be sent; the receiver throws one that looks the same. */
export interface ErrorData {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  readonly code?: string | number | undefined
  readonly hint?: string | undefined
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
}

/** `problem`: why there is no JSON of it. */
export type Value = { readonly json: Json } | { readonly problem: string }

/** `step` numbers the calls of `run.once`. */
export type ToTask =
  | { readonly kind: 'order'; readonly order: TaskOrder }
  | { readonly kind: 'abort'; readonly error: ErrorData }
  | { readonly kind: 'work'; readonly step: number }
  | { readonly kind: 'step-done'; readonly step: number; readonly json: Json }
  | { readonly kind: 'step-failed'; readonly step: number; readonly error: ErrorData }

export type FromTask =
  | { readonly kind: 'log'; readonly level: LogLine['level']; readonly message: string }
  | { readonly kind: 'progress'; readonly fraction: number; readonly message?: string | undefined }
  | { readonly kind: 'step'; readonly step: number; readonly name: string; readonly rerun?: boolean | undefined }
  | { readonly kind: 'worked'; readonly step: number; readonly value: Value }
  | { readonly kind: 'work-failed'; readonly step: number; readonly error: ErrorData }
  /** The task did not catch it, and is about to end. */
  | { readonly kind: 'uncaught'; readonly error: ErrorData }
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: ErrorData }

import type { Json } from '../model/json.ts'

/** The type of an app knows no job. An app whose type knows some can be passed where this is expected, which only `any` allows. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyInputs = any

/** `known` unless nothing is known. */
export type IfKnown<Inputs, Known, Otherwise> = 0 extends 1 & Inputs ? Otherwise : Known

/** By job, the input that its schema takes, as far as the type of an app knows: `cronce(…).job('report', { schema }, …)`. */
export type InputIn<Inputs, Job extends string> = IfKnown<
  Inputs,
  Job extends keyof Inputs ? Inputs[Job] : Json | undefined,
  Json | undefined
>

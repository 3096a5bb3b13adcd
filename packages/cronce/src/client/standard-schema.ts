import { CronceError } from '../errors.ts'
import { isPromise } from '../model/is-promise.ts'
import { copyJson, type Json } from '../model/json.ts'

/** What a validation library offers under https://standardschema.dev: as much of it as is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** Never there at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What one writes. */
export type InferInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input']
/** What the handler is given. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

/** `message` names each field that does not fit, for people. */
export type Validated<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string }

/**
 * What is stored is the input as it was written; it is validated when it comes in, so that mistakes are found early, and again
 * before each run, which is given the schema's output: the schema may have changed between. Nothing given is stored as `null`,
 * and a schema may call it either `undefined` or `null`.
 */
export function validateInput<Schema extends StandardSchema>(schema: Schema, value: Json): Judged<InferOutput<Schema>> {
  return judge(schema, copyJson(value) ?? undefined)
}

/** A promise only if the schema answers with one. */
type Judged<Output> = Validated<Output> | Promise<Validated<Output>>

function judge(schema: StandardSchema, value: Json | undefined): Judged<unknown> {
  const read = (result: SchemaResult<unknown>): Judged<unknown> => {
    if (result.issues === undefined) return { ok: true, value: result.value }
    return value === undefined ? judge(schema, null) : { ok: false, message: describeIssues(result.issues) }
  }
  const answer = schema['~standard'].validate(value)
  return isPromise(answer) ? answer.then(read) : read(answer)
}

/** Throws INPUT_INVALID with what the schema says. */
export async function demandInput(schema: StandardSchema, job: string, value: Json): Promise<void> {
  const validated = await validateInput(schema, value)
  if (validated.ok) return
  throw new CronceError('INPUT_INVALID', `The input does not fit the schema of job ${job}: ${validated.message}`, {
    hint: 'Give an input that the schema accepts.',
  })
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  // A schema may be a function (ArkType).
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = (value as { readonly '~standard'?: unknown })['~standard']
  if (typeof standard !== 'object' || standard === null) return false
  return typeof (standard as { readonly validate?: unknown }).validate === 'function'
}

/** More would not be read. */
const ISSUES_SHOWN = 5

function describeIssues(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, ISSUES_SHOWN).map(({ message, path = [] }) => {
    const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return (where === '' ? message : `${where}: ${message}`).slice(0, 300)
  })
  const more = issues.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

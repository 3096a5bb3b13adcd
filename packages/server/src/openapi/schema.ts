/** As much of JSON Schema as we use. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly format?: string
}

/** An object all of whose fields are there. */
export function object(properties: Readonly<Record<string, Schema>>, description?: string): Schema {
  const about = description === undefined ? {} : { description }
  return { type: 'object', ...about, properties, required: Object.keys(properties) }
}

/** An object any of whose fields may be left out. */
export function partial(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
}

export function array(items: Schema): Schema {
  return { type: 'array', items }
}

export function orNull(schema: Schema): Schema {
  if (typeof schema.type === 'string' && schema.enum === undefined) return { ...schema, type: [schema.type, 'null'] }
  return { anyOf: [schema, { type: 'null' }] }
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

export function choice(...values: readonly string[]): Schema {
  return { type: 'string', enum: values }
}

export function about(schema: Schema, description: string): Schema {
  return { ...schema, description }
}

export const TEXT: Schema = { type: 'string' }
export const NUMBER: Schema = { type: 'number' }
export const INTEGER: Schema = { type: 'integer' }
export const BOOLEAN: Schema = { type: 'boolean' }
export const ANYTHING: Schema = {}
/** Going out: epoch milliseconds. */
export const AT: Schema = { type: 'integer', description: 'Epoch milliseconds.' }
export const MS: Schema = { type: 'number', description: 'Milliseconds.' }
/** Coming in: epoch milliseconds, or an ISO text. */
export const WHEN: Schema = {
  type: ['integer', 'string'],
  description: 'Epoch milliseconds, or an ISO text with Z or an offset.',
}

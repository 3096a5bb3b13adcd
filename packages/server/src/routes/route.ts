import type { AccessLevel, Right } from '../access.ts'
import type { Answer } from '../answer.ts'
import type { EventHub } from '../events/hub.ts'
import type { ServerMetrics } from '../metrics/server-metrics.ts'
import type { Schema } from '../openapi/schema.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Parts } from '../read-path.ts'
import type { Seal } from '../seal.ts'
import type { Source } from '../source.ts'

/** Who calls, as far as the access function says. */
export interface Asker {
  readonly level: AccessLevel
  readonly author: string | undefined
  readonly principal: string
  readonly rights: ReadonlySet<Right>
  /** Which schedules exist for the caller; `null`: all of them. */
  readonly isVisible: ((schedule: string) => boolean) | null
}

/** What a handler of a route is given. */
export interface Call {
  readonly source: Source
  readonly options: ResolvedOptions
  readonly events: EventHub
  readonly request: Request
  /** A name in the path, decoded. */
  readonly parts: Parts
  /** What the query says, read as the route says. */
  readonly query: Readonly<Record<string, unknown>>
  /** The JSON object in the body, with no field that the route does not name; empty if there is none. */
  readonly body: Readonly<Record<string, unknown>>
  /** The idempotency key, if there is one. */
  readonly key: string | null
  /** Whose key and whose streams these are; empty where the access function does not say. */
  readonly principal: string
  readonly asker: Asker
  /** Where the API is mounted, as the request came. */
  readonly base: string
  /** Whether work should be sent here. */
  readonly isReady: () => Promise<boolean>
  /** The OpenAPI document. */
  readonly document: Readonly<Record<string, unknown>>
  /** What Prometheus reads of this process and of the fleet; `null`: not offered here. */
  readonly metrics: ServerMetrics | null
  /** For positions that are told to callers who see some schedules only. */
  readonly seal: Seal
  /** The figures of the first screen. */
  readonly overview: () => Promise<unknown>
}

/** A parameter in the query: what it is read as, and what the OpenAPI document says about it. */
export interface QueryParameter {
  readonly kind: 'text' | 'instant' | 'integer' | 'boolean'
  readonly about: string
  readonly choices?: readonly string[] | undefined
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly required?: boolean | undefined
}

/** Who may call it: all clients; those with at least that level of access; or those that the route itself accepts. */
export type RouteAccess = 'open' | 'metrics' | 'read' | 'operate' | 'own'

export type Proof = 'proved' | 'unproved' | 'none'

/** One row of the table that the router, the access check and the OpenAPI document are made of. */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** With `:name` for parts that are names. */
  readonly path: string
  /** For the OpenAPI document: unique. */
  readonly id: string
  readonly about: string
  readonly access: RouteAccess
  /** Of a route that needs `operate`: the right that is enough. Without one, it concerns more than single schedules. */
  readonly right?: Right | undefined
  /** It answers about all schedules together, so it is not for callers who see some of them only. */
  readonly isOfAll?: boolean | undefined
  readonly query?: Readonly<Record<string, QueryParameter>> | undefined
  /** Fields of the JSON object in the body. */
  readonly body?: Readonly<Record<string, Schema>> | undefined
  readonly required?: readonly string[] | undefined
  /** Of the answer; `null`: it has no body. */
  readonly answer: Schema | null
  readonly status?: number | undefined
  /** `durable`: the store remembers the key, or the request itself says which it is. @default 'kept' for POST */
  readonly idempotency?: 'kept' | 'durable' | undefined
  /** Of routes with `own` access: what the headers alone prove. `unproved`: the body has to be read first. */
  readonly proof?: ((call: Pick<Call, 'request' | 'options'>) => Proof) | undefined
  /** Content type of the answer. @default 'application/json' */
  readonly type?: string | undefined
  readonly handle: (call: Call) => Promise<Answer | Response>
}

export function route(definition: Route): Route {
  return definition
}

import { OWN_FRAME } from '../errors.ts'
import { cut, LIMITS } from '../model/limits.ts'
import type { ErrorRecord } from '../model/record.ts'

/** Causes and contained errors that are described with an error. Also ends cycles of causes. */
const RELATED_LIMIT = 10
const CONTAINED_LEVELS = 3

/** Any thrown value as plain data: it may not be an Error, or its properties may throw. */
export function describeError(error: unknown): ErrorRecord {
  try {
    if (!(error instanceof Error)) {
      return { name: 'Error', message: cut(printed(error), LIMITS.errorMessage), code: null, stack: null }
    }
    const { code } = error as { code?: unknown }
    return {
      name: cut(String(error.name), LIMITS.name),
      message: cut(messageOf(error), LIMITS.errorMessage),
      code: typeof code === 'string' || typeof code === 'number' ? cut(String(code), LIMITS.name) : null,
      stack: cut(stackOf(error), LIMITS.stack),
    }
  } catch {
    return { name: 'Error', message: 'The error cannot be read.', code: null, stack: null }
  }
}

/**
 * Followed by the messages of the errors in an AggregateError, whose own message is empty in Node.js. An error may contain
 * itself, so `levels` bounds the depth.
 */
function messageOf(error: Error, levels = CONTAINED_LEVELS): string {
  const contained = levels > 0 ? containedIn(error) : []
  const texts = contained
    .slice(0, RELATED_LIMIT)
    .map((inner) => (inner instanceof Error ? messageOf(inner, levels - 1) : printed(inner)))
  const more = contained.length - texts.length
  const list = [...new Set(texts), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return [String(error.message), list].filter((text) => text !== '').join(': ')
}

function stackOf(error: Error): string {
  const texts = [withoutCallers(String(error.stack ?? ''))]
  const waiting = relatedTo(error)
  while (texts.length <= RELATED_LIMIT) {
    const next = waiting.shift()
    if (next === undefined) break
    texts.push(`${next.relation} ${describe(next.error)}`)
    if (next.error instanceof Error) waiting.unshift(...relatedTo(next.error))
  }
  return texts.join('\n')
}

/** A frame of Node.js. */
const OF_NODE = /^ {4}at (?:new Promise \(<anonymous>\)$|async Promise\.\w+ \(index \d+\)$|.*\bnode:)/

/** Without the frames at its end that lead from the engine to the handler: they are the same in every error. */
function withoutCallers(stack: string): string {
  const lines = stack.split('\n')
  const kept = lines.findLastIndex((line) => !OWN_FRAME.test(line) && !OF_NODE.test(line)) + 1
  // An error thrown by the library, with no frame of the application: keep all frames.
  return lines.slice(0, kept).some((line) => line.startsWith('    at ')) ? lines.slice(0, kept).join('\n') : stack
}

interface Related {
  readonly relation: 'caused by' | 'contains'
  readonly error: unknown
}

function relatedTo(error: Error): Related[] {
  const causes = error.cause instanceof Error ? [{ relation: 'caused by', error: error.cause } as const] : []
  return [...causes, ...containedIn(error).map((inner) => ({ relation: 'contains', error: inner }) as const)]
}

/** Also checked by name: an error from another realm is not an instance of this realm's class. */
function containedIn(error: Error): readonly unknown[] {
  if (!(error instanceof AggregateError) && error.name !== 'AggregateError') return []
  const { errors } = error as { errors?: unknown }
  return Array.isArray(errors) ? errors : []
}

function describe(error: unknown): string {
  return error instanceof Error ? withoutCallers(String(error.stack ?? error.message)) : printed(error)
}

function printed(value: unknown): string {
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'object') : String(value)
}

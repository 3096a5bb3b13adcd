/** The published entry `cronce/otel`. It needs the package `@opentelemetry/api`. */
export { type OtelOptions, otel } from './otel/otel.ts'

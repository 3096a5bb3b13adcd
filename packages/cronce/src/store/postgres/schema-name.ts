import { optionsInvalid as invalid } from '../store-options.ts'

/** The default schema of the tables. */
export const DEFAULT_SCHEMA = 'cronce'

/** PostgreSQL truncates longer names, so two could become the same. */
const LONGEST_NAME_BYTES = 63

/** The name of the schema, quoted for SQL. */
export function quoteSchema(name: string): string {
  const bytes = typeof name === 'string' ? new TextEncoder().encode(name).length : 0
  if (bytes === 0 || bytes > LONGEST_NAME_BYTES || name.includes('\0')) {
    throw invalid(`"${name}" can't be the name of a schema.`, `Use 1 to ${LONGEST_NAME_BYTES} bytes.`)
  }
  if (/^(pg_|information_schema$)/.test(name)) {
    throw invalid(`The schema "${name}" is PostgreSQL's own.`, `Use another name, such as ${DEFAULT_SCHEMA}.`)
  }
  if (name.includes("'") || name.includes('$')) {
    throw invalid(`"${name}" can't be the name of a schema.`, 'Use a name without quotation marks and dollar signs.')
  }
  return quoteName(name)
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteText(text: string): string {
  // The prefix makes backslashes mean the same whatever `standard_conforming_strings` says.
  return text.includes('\\')
    ? `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`
}

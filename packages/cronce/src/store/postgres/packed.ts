import { StoreError } from '../store-error.ts'

/**
 * Rows as one text: columns one after the other, in each of them one value for each row. The server takes that apart in
 * less than half the time that JSON takes. Control characters stand between the values: names have none, and JSON escapes them.
 */
const COLUMN = '\x1d'
const NULL = '\x1e'
const ROW = '\x1f'
/** For what would otherwise be nothing at all between two rows. */
const EMPTY = '\x1c'
const RESERVED = [EMPTY, COLUMN, NULL, ROW]

type Value = string | number | boolean | null | undefined
type Columns = Readonly<Record<string, string>>

/** What is left out is null. */
export type Row<Names extends Columns> = { readonly [Name in keyof Names]?: Value }

export class Packer<Names extends Columns> {
  readonly #columns: string[][]
  readonly #names: readonly (keyof Names & string)[]

  constructor(columns: Names) {
    this.#names = Object.keys(columns)
    this.#columns = this.#names.map(() => [])
  }

  add(row: Row<Names>): void {
    for (const [index, name] of this.#names.entries()) this.#columns[index]!.push(valueText(row[name]))
  }

  text(): string {
    if (this.#columns[0]!.length === 0) return ''
    return this.#columns.map((values) => values.join(ROW)).join(COLUMN)
  }
}

function valueText(value: Value): string {
  if (value === null || value === undefined) return NULL
  if (typeof value !== 'string') return String(value)
  if (value === '') return EMPTY
  if (RESERVED.some((mark) => value.includes(mark))) throw reserved(value)
  return value
}

function reserved(value: string): StoreError {
  return new StoreError('NAME_INVALID', `${JSON.stringify(value.slice(0, 100))} contains a control character.`, {
    hint: 'Use names without control characters.',
  })
}

/** SQL: the rows of such a text. It is cut into columns once, which a planner would undo without `offset`. */
export function unpacked(text: string, columns: Columns): string {
  const names = Object.keys(columns)
  const arrays = Object.values(columns).map((type, index) => {
    const values = `string_to_array(p.columns[${index + 1}], E'\\x1f', E'\\x1e')`
    return type === 'text' ? values : `${values}::${type}[]`
  })
  const values = Object.entries(columns).map(([name, type]) =>
    type === 'text' ? `case when u.${name} = E'\\x1c' then '' else u.${name} end as ${name}` : `u.${name}`,
  )
  return `(
    select ${values.join(', ')}
      from (select string_to_array(${text}, E'\\x1d') as columns offset 0) p
     cross join lateral unnest(${arrays.join(', ')}) as u (${names.join(', ')})
  )`
}

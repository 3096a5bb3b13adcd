import type { Statement } from './database.ts'

/** Rows for slots that have none. In the order of their names, as everybody locks them. */
export function slotStatement(schema: string): Statement {
  return {
    name: 'slots',
    sql: `
with made as (
  insert into ${schema}._slots (namespace, slot, used)
  select $1::text, slot, 0 from json_array_elements_text($2::text::json) as missing (slot) order by slot
  on conflict (namespace, slot) do nothing
)
select '{}' as answer`,
  }
}

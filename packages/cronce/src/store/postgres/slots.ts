import type { Statement } from './database.ts'

const DAY_MS = 86_400_000

/**
 * SQL: the day of an instant, as a number. Slots remember the day of their last change and no more: it is in an index, and a row
 * that changes many times a day must not change its place there.
 */
export function daySql(instant: string): string {
  return `(${instant} / ${DAY_MS})::integer`
}

/** SQL: nobody holds the slot `s`, and nobody has for a day at least. It may be somebody's name: there is no end of them. */
export function idleSlotSql(): string {
  return `s.namespace = $1::text and s.changed_day > 0 and s.changed_day < ${daySql('clock.now')} - 1 and s.used = 0`
}

/** Rows for slots that have none. In the order of their names, as everybody locks them. */
export function slotStatement(schema: string): Statement {
  return {
    name: 'slots',
    sql: `
with made as (
  insert into ${schema}._slots (namespace, slot, used, changed_day)
  select $1::text, slot, 0, ${daySql('floor(extract(epoch from clock_timestamp()) * 1000)::bigint')}
    from json_array_elements_text($2::text::json) as missing (slot)
   order by slot
  on conflict (namespace, slot) do nothing
)
select '{}' as answer`,
  }
}

import type { Statement } from './database.ts'
import { clockCte } from './rows.ts'

export interface AppStatements {
  readonly load: Statement
  readonly save: Statement
}

export function appStatements(schema: string): AppStatements {
  return {
    load: {
      name: 'app',
      sql: `
with ${clockCte(schema)}
select '{"now":' || clock.now || ',"app":' || coalesce((
         select a.record from ${schema}._apps a where a.namespace = $1::text and a.name = $2::text
       ), 'null') || '}' as answer
  from clock`,
    },
    save: {
      name: 'app_save',
      sql: `
with saved as (
  insert into ${schema}._apps as a (namespace, name, version, record)
  select $1::text, $2::text, $3::text::bigint, $4::text
   where $3::text::bigint = 1 or exists (select from ${schema}._apps where namespace = $1::text and name = $2::text)
  on conflict (namespace, name) do update
     set version = excluded.version, record = excluded.record
   where a.version = excluded.version - 1
  returning true
)
select exists (select from saved)::text as answer`,
    },
  }
}

import type { Database } from '../../src/store/postgres/database.ts'

/**
 * What a schema looks like to those who use it, in the same words on every version of the server: tables with their columns, keys,
 * settings and indexes, the columns of the views, and of functions the names and a hash.
 */
export async function renderSchema(database: Database, schema: string): Promise<string> {
  const relations = await database.script(`
select c.relname as name, c.relkind in ('r', 'p') as is_table, array_to_string(c.reloptions, ', ') as options,
       (select string_agg('  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                 || case when l.collname = 'C' then ' collate "C"' else '' end
                 || case when a.attnotnull then ' not null' else '' end
                 || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''), E',\\n' order by a.attnum)
          from pg_attribute a
          left join pg_collation l on l.oid = a.attcollation
          left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
       (select string_agg(E',\\n  ' || pg_get_constraintdef(k.oid), '' order by k.contype desc, k.conname)
          from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n') as keys,
       (select string_agg(pg_get_indexdef(i.indexrelid) || E';\\n', '' order by x.relname)
          from pg_index i join pg_class x on x.oid = i.indexrelid
         where i.indrelid = c.oid and not i.indisprimary) as indexes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = '${schema}' and c.relkind in ('r', 'p', 'v')
 order by c.relkind, c.relname`)
  const functions = await database.script(`
select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' as name, md5(p.prosrc) as hash
  from pg_proc p where p.pronamespace = '${schema}'::regnamespace order by p.proname`)
  const made = functions.map(({ name, hash }) => `function ${name}; -- ${hash}\n`)
  return relations
    .map(({ name, is_table, options, columns, keys, indexes }) => {
      if (!is_table) return `view ${name} (\n${columns}\n);\n`
      const settings = options === null ? '' : ` with (${options})`
      return `table ${name} (\n${columns}${keys ?? ''}\n)${settings};\n${indexes ?? ''}`
    })
    .concat(made.join(''))
    .join('\n')
    .replaceAll(`${schema}.`, '')
}

import type { DatabaseSync } from 'node:sqlite'
import { statement } from './driver.ts'

const GET = 'select value from cronce_meta where namespace = ? and key = ?'
const SET =
  'insert into cronce_meta (namespace, key, value) values (?, ?, ?) on conflict do update set value = excluded.value'

/** Facts about the store (namespace empty) or about one namespace. */
export function getMeta(db: DatabaseSync, namespace: string, key: string): string | null {
  const row = statement(db, GET).get(namespace, key)
  return row === undefined ? null : String(row.value)
}

export function setMeta(db: DatabaseSync, namespace: string, key: string, value: string): void {
  statement(db, SET).run(namespace, key, value)
}

/** Where tokens of a new schedule begin: above those of every schedule that was removed. */
export function tokenFloor(db: DatabaseSync, namespace: string): number {
  return Number(getMeta(db, namespace, 'token-floor') ?? 0)
}

export function raiseTokenFloor(db: DatabaseSync, namespace: string, tokens: number): void {
  if (tokens > tokenFloor(db, namespace)) setMeta(db, namespace, 'token-floor', String(tokens))
}

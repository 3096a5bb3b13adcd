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

/** Moves up when a copy of the file is adopted. */
export function epochOf(db: DatabaseSync): number {
  return Number(getMeta(db, '', 'epoch') ?? 1)
}

/** Where the version and the tokens of a new schedule begin: above those of every removed schedule. */
export function floorOf(db: DatabaseSync, namespace: string): number {
  return Number(getMeta(db, namespace, 'floor') ?? 0)
}

export function raiseFloor(db: DatabaseSync, namespace: string, reached: number): void {
  if (reached > floorOf(db, namespace)) setMeta(db, namespace, 'floor', String(reached))
}

/** How often a process woke the others: a process that missed the signal finds the count changed. */
export function wakesOf(db: DatabaseSync, namespace: string): number {
  return Number(getMeta(db, namespace, 'wakes') ?? 0)
}

export function countWake(db: DatabaseSync, namespace: string): void {
  setMeta(db, namespace, 'wakes', String(wakesOf(db, namespace) + 1))
}

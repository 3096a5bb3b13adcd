import type { DatabaseSync } from 'node:sqlite'
import type { ActivityRecord } from '../../model/activity.ts'
import type { AppRecord } from '../../model/app.ts'
import { addActivity } from './activity.ts'
import { statement } from './driver.ts'
import { json } from './rows.ts'

const GET = 'select record from cronce_apps where namespace = ? and name = ?'
const VERSION = 'select version from cronce_apps where namespace = ? and name = ?'
const INSERT = 'insert or ignore into cronce_apps (namespace, name, version, record) values (?, ?, ?, ?)'
const UPDATE = 'update cronce_apps set version = ?, record = ? where namespace = ? and name = ? and version = ?'

export function loadApp(db: DatabaseSync, namespace: string, name: string): AppRecord | null {
  const row = statement(db, GET).get(namespace, name)
  return row === undefined ? null : json(row.record)
}

export function versionOfApp(db: DatabaseSync, namespace: string, name: string): number {
  return Number(statement(db, VERSION).get(namespace, name)?.version ?? 0)
}

export function saveApp(db: DatabaseSync, namespace: string, app: AppRecord, activity?: ActivityRecord): boolean {
  const { name, version } = app
  const record = JSON.stringify(app)
  const { changes } =
    version === 1
      ? statement(db, INSERT).run(namespace, name, version, record)
      : statement(db, UPDATE).run(version, record, namespace, name, version - 1)
  if (changes > 0) addActivity(db, namespace, activity)
  return changes > 0
}

// What SQLite itself can do here and now: the same driver, the same settings, one row at a time and many at a time.
import { DatabaseSync } from 'node:sqlite'

/** In a second, of rows about as long as a record. */
export interface Floor {
  readonly singleCommits: number
  readonly batchCommits: number
  readonly batchRows: number
}

const BATCH = 500
const ROW = 'x'.repeat(300)
const [file, milliseconds] = [process.argv[2]!, Number(process.argv[3])]

const db = new DatabaseSync(file)
db.exec('pragma journal_mode = wal; pragma synchronous = full; create table rows (key integer primary key, value text)')
const insert = db.prepare('insert into rows (value) values (?)')
const singleCommits = commitsPerSecond(1)
const batchCommits = commitsPerSecond(BATCH)
db.close()
process.send!({ singleCommits, batchCommits, batchRows: batchCommits * BATCH } satisfies Floor)

function commitsPerSecond(rows: number): number {
  const from = performance.now()
  let commits = 0
  for (; performance.now() - from < milliseconds; commits++) {
    db.exec('begin immediate')
    for (let row = 0; row < rows; row++) insert.run(ROW)
    db.exec('commit')
  }
  return commits / ((performance.now() - from) / 1000)
}

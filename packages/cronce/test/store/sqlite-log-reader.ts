import { setImmediate as turn } from 'node:timers/promises'
import { loadDriver, statement } from '../../src/store/sqlite/driver.ts'
import { connect } from '../../src/store/sqlite/open.ts'

/** Reads a file without a gap between readers: one begins before the other ends. */
const driver = await loadDriver()
const file = process.argv[2]!
const [first, second] = [connect(driver, file), connect(driver, file)]

function begin(db: typeof first): void {
  db.exec('begin')
  statement(db, 'select count(*) as value from texts').get()
}

begin(first)
process.send!('reading')
process.once('disconnect', () => process.exit())
for (;;) {
  begin(second)
  first.exec('commit')
  await turn()
  begin(first)
  second.exec('commit')
  await turn()
}

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loadAudit } from '../load-audit.ts'
import { version } from '../version.ts'

/** As a part of texts: this module itself requires nothing. */
const REQUIRE = 'require'

/** The shop as it was before: four processes of one app, each with the same tasks, and an export in a cluster. */
const FILES: Readonly<Record<string, string>> = {
  'ecosystem.config.js': `module.exports = {
  apps: [{ name: 'shop', script: 'src/index.js', instances: 4, exec_mode: 'cluster' }],
}
`,
  'src/index.js': `${REQUIRE}('./jobs')
${REQUIRE}('express')().listen(3000)
`,
  'src/jobs.js': `const cron = ${REQUIRE}('node-cron')
const { chargeCustomers, syncCatalog } = ${REQUIRE}('./work')

cron.schedule('0 0 * * *', async () => {
  await chargeCustomers()
})
cron.schedule('*/5 * * * *', async () => {
  await syncCatalog()
})
`,
  'src/work.js': `const db = ${REQUIRE}('./db')
exports.chargeCustomers = async () => {
  for (const { id, cents } of await db.query('select id, cents from unpaid')) await stripe.charges.create({ amount: cents, customer: id })
}
exports.syncCatalog = async () => {
  await db.query('insert into catalog select * from supplier')
}
`,
  'deploy/export.yaml': `apiVersion: batch/v1
kind: CronJob
metadata:
  name: export-warehouse
spec:
  schedule: '0 * * * *'
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: export
              image: shop/export:1
`,
}

/** The file of what `cronce audit` reports about it; `undefined` if @cronce/audit is not installed. */
export async function writeAuditReport(folder: string): Promise<string | undefined> {
  const audit = await loadAudit()
  if (audit === null) return undefined
  const before = join(folder, 'before')
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(before, name)), { recursive: true })
    await writeFile(join(before, name), text)
  }
  const report = join(folder, 'audit.sarif')
  const silent = { folder: before, version: version(), out: () => {}, error: () => {} }
  await audit.runCommand(['--format=sarif', `--output=${report}`], silent)
  return report
}

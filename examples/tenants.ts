/** A schedule per customer, made and changed while the application runs. */
import { cronce } from 'cronce'

const app = cronce({ store: 'memory:' })

// No cron: the job runs when one of its schedules is due, or when it is triggered.
app.job('report', {}, (run) => {
  const { customer } = run.fire.input as { customer: string }
  console.log(`report for ${customer} (${run.fire.kind})`)
})
await app.start()

const customers = ['ada', 'grace', 'edsger']
const { created, refused } = await app.schedules.createMany(
  customers.map((customer) => [
    `report:${customer}`,
    { job: 'report', cron: '0 8 * * MON', tz: 'Europe/London', input: { customer }, tenant: customer },
  ]),
)
console.log(`created ${created}, refused ${refused}`)

await app.schedules.pause('report:edsger', { note: 'has not paid', author: 'sales' })
for await (const { name, state } of app.schedules.all({ job: 'report', prefix: 'report:' })) console.log(name, state)

// A button that is pressed twice: the key makes it one fire.
const ended = new Promise<void>((resolve) => app.on('fire.ended', () => resolve()))
for (const press of [1, 2]) {
  const { created } = await app.schedules.trigger('report:ada', { dedupe: 'request-17' })
  console.log(`press ${press}: ${created ? 'a new fire' : 'the same fire'}`)
}
await ended

const { schedules } = await app.tenants.erase('grace')
const { items } = await app.schedules.list({ prefix: 'report:' })
console.log(`erased ${schedules}, left ${items.length}`)
await app.stop()

/* prints, in any order
created 3, refused 0
report:ada active
report:edsger paused
report:grace active
press 1: a new fire
press 2: the same fire
report for ada (manual)
erased 1, left 2
*/

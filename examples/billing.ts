/**
 * Charging customers from a job whose process is killed in the middle of a charge. The gateway is another system, so no
 * transaction covers it: durable steps keep what was done from being done again, and the gateway's own idempotency key covers
 * the one charge of which nobody knows whether it happened.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { cronce } from 'cronce'

const INVOICES = ['A-1', 'A-2', 'A-3']
const [, , role, gatewayUrl] = process.argv

if (role === undefined) await playTheWorld()
else await runTheApp()

async function runTheApp(): Promise<void> {
  const app = cronce({ store: 'sqlite:./cronce-billing.db', logger: false })
  app.job('billing', { every: '1s', limit: 1 }, async (run) => {
    for (const invoice of INVOICES) {
      // `rerun`: a step that was begun and whose end is unknown is done again, since the gateway knows the key.
      await run.once(`charge ${invoice}`, () => charge(invoice, run.idempotencyKey(invoice)), { rerun: true })
    }
    console.log(`billed in attempt ${run.attempt}`)
    process.disconnect()
    void app.stop()
  })
  await app.start()
}

async function charge(invoice: string, key: string): Promise<string> {
  const answer = await fetch(gatewayUrl!, { method: 'POST', body: invoice, headers: { 'idempotency-key': key } })
  const receipt = await answer.text()
  // The first process dies here: the money has moved, and cronce has not been told.
  if (role === 'unlucky' && invoice === 'A-2') process.kill(process.pid, 'SIGKILL')
  return receipt
}

/** A gateway that charges once per key, one process that dies, and another one that takes over. */
async function playTheWorld(): Promise<void> {
  const charged = new Map<string, string>()
  const asked: string[] = []
  const gateway = createServer(async (request, response) => {
    const invoice = (await request.toArray()).join('')
    asked.push(invoice)
    charged.set(String(request.headers['idempotency-key']), invoice)
    response.end(`receipt for ${invoice}`)
  }).listen(0)
  await once(gateway, 'listening')
  const url = `http://localhost:${(gateway.address() as { port: number }).port}`
  for (const next of ['unlucky', 'lucky']) await once(fork(import.meta.filename, [next, url]), 'exit')
  gateway.close()
  console.log(`asked for ${asked.join(', ')}`)
  console.log(`charged ${[...charged.values()].join(', ')}`)
}

/* prints
billed in attempt 2
asked for
charged
*/

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface Received {
  /** Behind the first part of the path, without the query. */
  readonly what: string
  readonly rid: string | null
  readonly body: string
}

/** A dead man's switch on this machine that records its requests. `answer`: the status of the next answers. */
export async function startReceiver(context: TestContext) {
  const received: Received[] = []
  const state = { status: 200, isSilent: false }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    received.push({
      what: pathname.replace('/secret-check', ''),
      rid: searchParams.get('rid'),
      body: Buffer.concat(chunks).toString(),
    })
    if (!state.isSilent) response.writeHead(state.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/secret-check`, received, state }
}

/** Looks until it is so; a busy machine may take long. */
export async function until<Value>(what: string, look: () => Value | false | undefined | null): Promise<Value> {
  for (let tries = 0; tries < 3_000; tries++) {
    const found = look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`It did not happen that ${what}.`)
}

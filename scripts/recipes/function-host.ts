/** `node function-host.ts MODULE DELIVERY`: what Lambda and Vercel do with a function, once. */
import { pathToFileURL } from 'node:url'

interface Function {
  readonly handler?: (event: object) => Promise<object>
  readonly GET?: (request: Request) => Promise<Response>
}

const [file, text] = process.argv.slice(2) as [string, string]
const { handler, GET } = (await import(pathToFileURL(file).href)) as Function
const delivery = JSON.parse(text) as { readonly url?: string; readonly headers?: Record<string, string> }
const answer = handler ? { status: 200, ...(await handler(delivery)) } : await get()
console.log(`answer ${JSON.stringify(answer)}`)
// A platform freezes the process; what it has open does not matter.
process.exit()

async function get(): Promise<object> {
  const response = await GET!(new Request(delivery.url!, { headers: delivery.headers ?? {} }))
  return { status: response.status, ...((await response.json()) as object) }
}

import { createReadStream, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.txt': 'text/plain; charset=utf-8',
}

/** The site on loopback, for reading and for tests. */
export async function serve(folder: string, port = 0): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    const path = join(
      folder,
      normalize(decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname)),
    )
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true
    response.writeHead(isFile ? 200 : 404, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' })
    if (isFile) createReadStream(path).pipe(response)
    else response.end()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server }
}

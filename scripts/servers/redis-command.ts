import { connect } from 'node:net'
import { ServerError } from './errors.ts'
import { LOOPBACK } from './ports.ts'

export type RedisReply = string | number | null | readonly RedisReply[]

const COMMAND_LIMIT_MS = 60_000

/** One command to one server, on its own connection, without a client's cluster logic or retries. */
export function redisCommand(server: { readonly port: number }, ...words: readonly string[]): Promise<RedisReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, LOOPBACK)
    const fail = (because: string) => {
      socket.destroy()
      const message = `The Redis server on port ${server.port} did not do ${words.slice(0, 3).join(' ')}: ${because}`
      reject(new ServerError('COMMAND_FAILED', message))
    }
    let reply = Buffer.alloc(0)
    socket.setTimeout(COMMAND_LIMIT_MS, () => fail(`no answer within ${COMMAND_LIMIT_MS} ms`))
    socket.once('error', (error) => fail(error.message))
    socket.once('close', () => fail('the connection was closed'))
    socket.on('data', (chunk) => {
      reply = Buffer.concat([reply, chunk])
      const read = readReply(reply, 0)
      if (read === undefined) return
      if (read.value instanceof Error) return fail(read.value.message)
      resolve(read.value)
      socket.destroy()
    })
    const bulks = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    socket.write(`*${words.length}\r\n${bulks.join('')}`)
  })
}

/** A reply that is text. */
export async function redisText(server: { readonly port: number }, ...words: readonly string[]): Promise<string> {
  return String(await redisCommand(server, ...words))
}

interface Read {
  readonly value: RedisReply | Error
  /** Where the next one begins. */
  readonly end: number
}

/** The reply that begins here, or `undefined` if not all of it has arrived. */
function readReply(bytes: Buffer, start: number): Read | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd === -1) return undefined
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const next = lineEnd + 2
  switch (String.fromCharCode(bytes[start]!)) {
    case '+':
      return { value: line, end: next }
    case '-':
      return { value: new Error(line), end: next }
    case ':':
      return { value: Number(line), end: next }
    case '$': {
      const length = Number(line)
      if (length === -1) return { value: null, end: next }
      if (bytes.length < next + length + 2) return undefined
      return { value: bytes.toString('utf8', next, next + length), end: next + length + 2 }
    }
    case '*':
      return readArray(bytes, next, Number(line))
    default:
      return { value: new Error(`an answer of an unknown kind: ${line}`), end: next }
  }
}

function readArray(bytes: Buffer, start: number, count: number): Read | undefined {
  const values: RedisReply[] = []
  let end = start
  while (values.length < count) {
    const read = readReply(bytes, end)
    if (read === undefined || read.value instanceof Error) return read
    values.push(read.value)
    end = read.end
  }
  return { value: count === -1 ? null : values, end }
}

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** Larger than any message: what has no end by then is none of ours. */
const LONGEST = 1_048_576

/** Messages as lines of JSON. What is none is left out. */
export function readMessages(stream: Readable, receive: (message: unknown) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST) rest = ''
    for (const line of lines) {
      const message = parse(line)
      if (message !== null) receive(message)
    }
  })
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import { LIMITS } from '../../model/limits.ts'

/** How much of the end is kept, in bytes. */
const TAIL = 4_096

/**
 * What a program writes: its first lines for the log, and the last of it. However much it is and however long its lines,
 * no more than that is in memory; and whatever bytes they are, a text comes out.
 */
export class Output {
  readonly #log: (line: string) => void
  readonly #decoder = new StringDecoder('utf8')
  /** Characters that the log can still take. */
  #room: number = LIMITS.log
  #line = ''
  /** Of the line at hand, the log has all it takes. */
  #isCut = false
  #tail: Buffer = Buffer.alloc(0)
  #size = 0

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL)]).subarray(-TAIL)
    if (this.#room > 0) this.#split(this.#decoder.write(chunk))
  }

  end(): void {
    if (this.#room > 0) this.#split(this.#decoder.end())
    if (this.#line !== '') this.#emit()
  }

  /** The end of it, from the beginning of a line if it has one. */
  tail(): string {
    if (this.#size <= TAIL) return plain(this.#tail.toString())
    const text = this.#tail.toString()
    const begin = text.indexOf('\n') + 1
    return plain(begin < text.length ? text.slice(begin) : text)
  }

  lastLine(): string {
    const lines = this.tail().trimEnd().split('\n')
    const last = lines.at(-1) ?? ''
    // Node.js ends what it writes about an uncaught error with its version.
    if (!/^Node\.js v[\d.]+$/.test(last)) return last
    return lines.find((line) => /^(?:Uncaught )?\w*Error(?: \[\w+\])?: /.test(line)) ?? last
  }

  #split(text: string): void {
    let from = 0
    while (this.#room > 0) {
      const to = text.indexOf('\n', from)
      this.#add(text.slice(from, to < 0 ? undefined : to))
      if (to < 0) return
      if (!this.#isCut) this.#emit()
      this.#line = ''
      this.#isCut = false
      from = to + 1
    }
  }

  #add(piece: string): void {
    if (this.#isCut) return
    this.#line += piece
    // One character too many makes the log put its mark behind what it cuts.
    if (this.#line.length <= LIMITS.logLine) return
    this.#line = this.#line.slice(0, LIMITS.logLine + 1)
    this.#emit()
    this.#isCut = true
  }

  #emit(): void {
    // What a terminal would show: a carriage return begins the line anew.
    const line = this.#line.replace(/\r+$/, '')
    const text = plain(line.slice(line.lastIndexOf('\r') + 1))
    this.#line = ''
    // An empty line takes room too, or there could be any number of them.
    this.#room -= text.length + 1
    this.#log(text)
  }
}

/** Without colours; and without what databases do not take, or half a character. */
function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\0', '\uFFFD').toWellFormed()
}

/** Writes records of jute, the serialization of ZooKeeper: big-endian numbers, and texts and lists after their length. */
export class JuteWriter {
  readonly #parts: Buffer[] = []

  int(value: number): this {
    const bytes = Buffer.allocUnsafe(4)
    bytes.writeInt32BE(value)
    this.#parts.push(bytes)
    return this
  }

  long(value: bigint): this {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeBigInt64BE(value)
    this.#parts.push(bytes)
    return this
  }

  bool(value: boolean): this {
    this.#parts.push(Buffer.from([value ? 1 : 0]))
    return this
  }

  bytes(value: Buffer): this {
    this.int(value.length)
    this.#parts.push(value)
    return this
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value))
  }

  get body(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

/** Reads them. Throws a `RangeError` if there are too few bytes. */
export class JuteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  int(): number {
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  long(): bigint {
    this.#at += 8
    return this.#bytes.readBigInt64BE(this.#at - 8)
  }

  bool(): boolean {
    this.#at += 1
    return this.#bytes.readInt8(this.#at - 1) === 1
  }

  bytes(): Buffer {
    const length = this.int()
    if (length < 0) return Buffer.alloc(0)
    if (this.#at + length > this.#bytes.length) throw new RangeError('the record ends too early')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  text(): string {
    return this.bytes().toString()
  }

  list<Item>(item: () => Item): Item[] {
    const length = this.int()
    const items: Item[] = []
    for (let index = 0; index < length; index++) items.push(item())
    return items
  }
}

/** Length, then body: what goes over the connection. */
export function frame(body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(4 + body.length)
  bytes.writeInt32BE(body.length)
  body.copy(bytes, 4)
  return bytes
}

/** As much of protocol buffers as etcd's messages need. */
export type Schema = Readonly<Record<string, Field>>

interface Field {
  readonly number: number
  readonly kind: 'text' | 'integer' | 'id' | 'flag' | 'message'
  /** Called late, because messages contain themselves. */
  readonly of?: () => Schema
  readonly isRepeated?: boolean
}

export type Message = { readonly [name: string]: unknown }

export const text = (number: number): Field => ({ number, kind: 'text' })
/** Between -2^53 and 2^53. */
export const integer = (number: number): Field => ({ number, kind: 'integer' })
/** 64 bits, as decimal text. */
export const id = (number: number): Field => ({ number, kind: 'id' })
export const flag = (number: number): Field => ({ number, kind: 'flag' })
export const message = (number: number, of: () => Schema): Field => ({ number, kind: 'message', of })
export const messages = (number: number, of: () => Schema): Field => ({ number, kind: 'message', of, isRepeated: true })

const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5
/** In bytes, of seven bits each. */
const LONGEST_VARINT = 10

export function encode(value: Message, schema: Schema): Buffer {
  const writer = new Writer()
  writer.message(value, schema)
  return writer.bytes()
}

class Writer {
  #bytes = Buffer.allocUnsafe(4_096)
  #length = 0

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  message(value: Message, schema: Schema): void {
    for (const name in value) {
      const item = value[name]
      if (item === undefined) continue
      const field = schema[name]!
      for (const one of field.isRepeated === true ? (item as unknown[]) : [item]) this.#field(field, one)
    }
  }

  #field({ number, kind, of }: Field, value: unknown): void {
    const isDelimited = kind === 'text' || kind === 'message'
    this.#varint(number * 8 + (isDelimited ? LENGTH_DELIMITED : VARINT))
    if (kind === 'text') this.#text(value as string)
    else if (kind === 'message') this.#nested(() => this.message(value as Message, of!()))
    else if (kind === 'integer') this.#integer(value as number)
    else if (kind === 'flag') this.#varint(value === true ? 1 : 0)
    else this.#bigVarint(BigInt(value as string))
  }

  /** A negative one takes all 64 bits. */
  #integer(value: number): void {
    if (value < 0) this.#bigVarint(BigInt(value))
    else this.#varint(value)
  }

  #text(value: string): void {
    const size = Buffer.byteLength(value)
    this.#varint(size)
    this.#reserve(size)
    this.#length += this.#bytes.write(value, this.#length)
  }

  /** The length comes first, and is known last: what was written moves up to make room for it. */
  #nested(write: () => void): void {
    const start = this.#length
    write()
    const size = this.#length - start
    const room = varintSize(size)
    this.#reserve(room)
    this.#bytes.copyWithin(start + room, start, this.#length)
    this.#length = start
    this.#varint(size)
    this.#length += size
  }

  #varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#length++] = rest
  }

  #bigVarint(value: bigint): void {
    this.#reserve(10)
    let rest = BigInt.asUintN(64, value)
    while (rest > 127n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128
      rest >>= 7n
    }
    this.#bytes[this.#length++] = Number(rest)
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + size))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++
  return size
}

/** Fields that are missing have their default: '', 0, '0', false, an empty list; `undefined` for a message. Throws if it is not a message. */
export function decode<Value>(bytes: Buffer, schema: Schema): Value {
  return new Reader(bytes).message(schema, bytes.length) as Value
}

interface Table {
  readonly byNumber: ReadonlyMap<number, Field & { readonly name: string }>
  readonly defaults: Readonly<Record<string, unknown>>
}

const DEFAULTS = { text: '', integer: 0, id: '0', flag: false, message: undefined }
const tables = new WeakMap<Schema, Table>()

function tableOf(schema: Schema): Table {
  let table = tables.get(schema)
  if (table === undefined) {
    const fields = Object.entries(schema)
    table = {
      byNumber: new Map(fields.map(([name, field]) => [field.number, { name, ...field }])),
      defaults: Object.fromEntries(
        fields.filter(([, field]) => field.isRepeated !== true).map(([name, { kind }]) => [name, DEFAULTS[kind]]),
      ),
    }
    tables.set(schema, table)
  }
  return table
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  message(schema: Schema, end: number): Record<string, unknown> {
    const { byNumber, defaults } = tableOf(schema)
    const value: Record<string, unknown> = { ...defaults }
    for (const name in schema) if (schema[name]!.isRepeated === true) value[name] = []
    while (this.#at < end) {
      const tag = this.#varint()
      const field = byNumber.get(Math.floor(tag / 8))
      if (field === undefined) this.#skip(tag % 8, end)
      else if (field.isRepeated === true) (value[field.name] as unknown[]).push(this.#value(field, tag % 8, end))
      else value[field.name] = this.#value(field, tag % 8, end)
    }
    if (this.#at > end) throw cutOff()
    return value
  }

  #value({ kind, of }: Field, wire: number, most: number): unknown {
    const isDelimited = kind === 'text' || kind === 'message'
    if (wire !== (isDelimited ? LENGTH_DELIMITED : VARINT))
      throw new Error(`a message has a field of wire type ${wire}`)
    if (kind === 'integer') return this.#integer()
    if (kind === 'flag') return this.#varint() === 1
    if (kind === 'id') return String(this.#bigVarint())
    const end = this.#end(most)
    if (kind === 'message') return this.message(of!(), end)
    const value = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return value
  }

  #skip(wire: number, most: number): void {
    if (wire === VARINT) this.#bigVarint()
    else if (wire === LENGTH_DELIMITED) this.#at = this.#end(most)
    else if (wire === FIXED_64 || wire === FIXED_32) this.#at += wire === FIXED_64 ? 8 : 4
    else throw new Error(`a message has a field of wire type ${wire}`)
  }

  /** Of what comes with its length, inside of what ends at `most`. */
  #end(most: number): number {
    const end = this.#varint() + this.#at
    if (end > most) throw cutOff()
    return end
  }

  #integer(): number {
    const start = this.#at
    const value = this.#varint()
    if (value <= Number.MAX_SAFE_INTEGER) return value
    this.#at = start
    return Number(BigInt.asIntN(64, this.#bigVarint()))
  }

  #varint(): number {
    let value = 0
    for (let place = 0, factor = 1; place < LONGEST_VARINT; place++, factor *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw tooLong()
  }

  #bigVarint(): bigint {
    let value = 0n
    for (let place = 0n; place < LONGEST_VARINT; place++) {
      const byte = this.#byte()
      value |= BigInt(byte & 127) << (7n * place)
      if (byte < 128) return value
    }
    throw tooLong()
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw cutOff()
    return byte
  }
}

function cutOff(): Error {
  return new Error('a message was cut off')
}

function tooLong(): Error {
  return new Error('a message has a number of more than 64 bits')
}

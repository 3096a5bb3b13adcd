import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml'
import type { Finding, Place } from './imported.ts'

/** A part of a manifest that knows where it stands. */
export class Manifest {
  readonly #node: unknown
  readonly #document: Document
  readonly #at: (offset: number) => Place

  constructor(node: unknown, document: Document, at: (offset: number) => Place) {
    this.#node = isAlias(node) ? node.resolve(document) : node
    this.#document = document
    this.#at = at
  }

  get place(): Place {
    return this.#at((isNode(this.#node) ? this.#node.range?.[0] : this.#document.range?.[0]) ?? 0)
  }

  /** The plain value; `undefined` if there is none. */
  get value(): unknown {
    return isNode(this.#node) ? this.#node.toJS(this.#document) : undefined
  }

  get text(): string | undefined {
    const { value } = this
    return typeof value === 'string' ? value : undefined
  }

  get number(): number | undefined {
    const { value } = this
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
  }

  at(...path: readonly string[]): Manifest {
    const [key, ...rest] = path
    if (key === undefined) return this
    const inner = isMap(this.#node) ? (this.#node.get(key, true) ?? this.#merged(key)) : undefined
    return new Manifest(inner, this.#document, this.#at).at(...rest)
  }

  /** What `<<: *base` brings along. */
  #merged(key: string): unknown {
    const pair = isMap(this.#node) ? this.#node.items.find((each) => isMerge(each.key)) : undefined
    const bases = isSeq(pair?.value) ? pair.value.items : [pair?.value]
    return bases
      .map((base) => (isAlias(base) ? base.resolve(this.#document) : base))
      .flatMap((base) => (isMap(base) ? (base.get(key, true) ?? []) : []))[0]
  }

  get keys(): readonly string[] {
    return isMap(this.#node) ? this.#node.items.filter(({ key }) => !isMerge(key)).map(({ key }) => String(key)) : []
  }

  get elements(): readonly Manifest[] {
    if (!isSeq(this.#node)) return []
    return this.#node.items.map((item) => new Manifest(item, this.#document, this.#at))
  }

  /** What is written above it: the parser may have it above the first thing in it. */
  get comments(): readonly string[] {
    const [first] = isMap(this.#node) ? this.#node.items : []
    return [this.#node, first?.key].flatMap((node) => (isNode(node) ? linesOf(node.commentBefore) : []))
  }
}

/** The parser has a symbol for it. */
function isMerge(key: unknown): boolean {
  return isScalar(key) && (key.value === '<<' || typeof key.value === 'symbol')
}

/** Where the finding stands, and what it is. */
export type Report = (at: Manifest, finding: Omit<Finding, 'place'>) => void

export interface FoundManifest {
  readonly manifest: Manifest
  readonly comments: readonly string[]
}

/** All objects of a file: several documents, and lists in them. What is not YAML is a finding, with line and column. */
export function readManifests(text: string, file: string): { found: FoundManifest[]; findings: Finding[] } {
  const lineCounter = new LineCounter()
  const found: FoundManifest[] = []
  const findings: Finding[] = []
  const at = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset)
    return { file, line, column: col }
  }
  for (const document of parseAllDocuments(text, { lineCounter, prettyErrors: false, merge: true })) {
    const errors = errorsOf(document)
    for (const { offset, why } of errors) {
      findings.push({ place: at(offset), level: 'lost', what: 'no YAML', why, todo: 'put the file right' })
    }
    if (errors.length > 0) continue
    const manifest = new Manifest(document.contents, document, at)
    const items = manifest.at('items')
    const isList = /List$/.test(manifest.at('kind').text ?? '') && items.elements.length > 0
    const above = [...linesOf(document.commentBefore), ...manifest.comments, ...(isList ? items.comments : [])]
    const manifests = isList ? items.elements : [manifest]
    manifests.forEach((each, index) => {
      const own = each === manifest ? [] : each.comments
      found.push({ manifest: each, comments: index === 0 ? [...above, ...own] : own })
    })
  }
  return { found, findings }
}

/** Some mistakes are found when the values are put together: aliases of nothing, or of far too much. */
function errorsOf(document: Document): { offset: number; why: string }[] {
  const firstLine = (error: unknown): string => (error as Error).message.split('\n', 1)[0]!
  if (document.errors.length > 0) {
    return document.errors.map((error) => ({ offset: error.pos[0], why: firstLine(error) }))
  }
  try {
    document.toJS()
    return []
  } catch (error) {
    return [{ offset: document.range?.[0] ?? 0, why: firstLine(error) }]
  }
}

function linesOf(comment: string | null | undefined): string[] {
  return comment ? comment.split('\n').map((line) => line.replace(/^ /, '')) : []
}

import { type Document, isAlias, isMap, isNode, isSeq, LineCounter, parseAllDocuments } from 'yaml'
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
    const base = isMap(this.#node) ? this.#node.get('<<', true) : undefined
    const source = isAlias(base) ? base.resolve(this.#document) : base
    return isMap(source) ? source.get(key, true) : undefined
  }

  get keys(): readonly string[] {
    return isMap(this.#node) ? this.#node.items.map(({ key }) => String(key)) : []
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

export interface FoundManifest {
  readonly manifest: Manifest
  readonly comments: readonly string[]
}

/** All objects of a file: several documents, and lists in them. What is no YAML is a finding, with line and column. */
export function readManifests(text: string, file: string): { found: FoundManifest[]; findings: Finding[] } {
  const lineCounter = new LineCounter()
  const found: FoundManifest[] = []
  const findings: Finding[] = []
  const at = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset)
    return { file, line, column: col }
  }
  for (const document of parseAllDocuments(text, { lineCounter, prettyErrors: false, merge: true })) {
    for (const error of document.errors) {
      const why = error.message.split('\n', 1)[0]!
      findings.push({ place: at(error.pos[0]), level: 'lost', what: 'no YAML', why, todo: 'put the file right' })
    }
    if (document.errors.length > 0) continue
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

function linesOf(comment: string | null | undefined): string[] {
  return comment ? comment.split('\n').map((line) => line.replace(/^ /, '')) : []
}

import { isMap, isNode, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLMap } from 'yaml'
import type { Finding, Place } from './imported.ts'

/** A part of a manifest that knows where it stands. */
export class Manifest {
  readonly #node: unknown
  readonly #placeOf: (node: unknown) => Place

  constructor(node: unknown, placeOf: (node: unknown) => Place) {
    this.#node = node
    this.#placeOf = placeOf
  }

  get place(): Place {
    return this.#placeOf(this.#node)
  }

  /** The plain value; `undefined` if there is none. */
  get value(): unknown {
    if (this.#node === undefined) return undefined
    return isNode(this.#node) ? (this.#node as Node).toJS(DOCUMENT_LESS) : this.#node
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
    let node: unknown = this.#node
    for (const key of path) node = isMap(node) ? node.get(key, true) : undefined
    return new Manifest(node, this.#placeOf)
  }

  get keys(): readonly string[] {
    return isMap(this.#node) ? (this.#node as YAMLMap).items.map(({ key }) => String(key)) : []
  }

  get elements(): readonly Manifest[] {
    return isSeq(this.#node) ? this.#node.items.map((item) => new Manifest(item, this.#placeOf)) : []
  }

  /** What is written above it. */
  get comment(): string | null {
    return isNode(this.#node) ? (this.#node.commentBefore ?? null) : null
  }
}

/** Aliases were resolved when the document was read, so nothing else of it is needed. */
const DOCUMENT_LESS = { anchors: new Map() } as never

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
  for (const document of parseAllDocuments(text, { lineCounter, prettyErrors: false })) {
    for (const error of document.errors) {
      const why = error.message.split('\n', 1)[0]!
      findings.push({ place: at(error.pos[0]), level: 'lost', what: 'no YAML', why, todo: 'put the file right' })
    }
    if (document.errors.length > 0 || document.contents === null) continue
    const placeOf = (node: unknown): Place => at((isNode(node) ? node.range?.[0] : document.range[0]) ?? 0)
    const comments = linesOf(document.commentBefore, isNode(document.contents) ? document.contents.commentBefore : null)
    const manifest = new Manifest(document.contents, placeOf)
    const isList = /List$/.test(manifest.at('kind').text ?? '') && manifest.at('items').elements.length > 0
    if (!isList) found.push({ manifest, comments })
    else {
      for (const item of manifest.at('items').elements)
        found.push({ manifest: item, comments: linesOf(item.comment) })
    }
  }
  return { found, findings }
}

function linesOf(...comments: readonly (string | null | undefined)[]): string[] {
  return comments.flatMap((comment) => (comment ? comment.split('\n').map((line) => line.replace(/^ /, '')) : []))
}

import type { FileTree } from '../discover/tree.ts'
import type { Fact } from '../facts/fact.ts'

export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Reads one language or format. It states what a file says, and judges nothing. */
export interface Reader {
  readonly name: string
  /** Whether files at this path are for this reader. Several readers may read one file. */
  reads(path: string): boolean
  /** Cheap test of the text, before anything is parsed: a file that fails it holds no fact. */
  mayHoldFacts(text: string, path: string): boolean
  /** Called once, before the first `read`, if any file needs it. */
  prepare?(): Promise<void>
  /** May throw: the file is then reported as not readable, and the audit goes on. */
  read(file: SourceFile, tree: FileTree): readonly Fact[]
}

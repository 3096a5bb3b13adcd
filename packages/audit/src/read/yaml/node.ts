/** A key of a mapping, or an item of a sequence. Text with template actions is kept as it is written. */
export interface YamlNode {
  /** Counted from 1. */
  readonly line: number
  readonly indent: number
  /** `null`: an item of a sequence. */
  readonly key: string | null
  /** A scalar without its quotes; `null` if there is none, or a block of children. */
  value: string | null
  /** The scalar was in quotes. */
  isQuoted: boolean
  /** How many `if`, `with`, `range` and `define` stand around it. */
  readonly blocks: number
  /** A template action adds children that are not known here. */
  isOpen: boolean
  /** Name of the anchor that this node refers to. */
  alias: string | null
  readonly children: YamlNode[]
}

import { compareBytes } from '../cursor.ts'
import type { KeyRange } from '../kv/driver.ts'
import { encodeName } from '../kv/keys.ts'

// Where keys are. ZooKeeper lists the children of a node without an order and all at once, so keys are spread over folders. A folder
// is a beginning of keys; the texts along a path, put together, are the key. So a folder holds one stretch of the order of keys.

const END = '\0'
/** How many parts after its kind are folders of their own. */
const NAME_FOLDERS: Readonly<Record<string, number>> = {
  ...{ q: 1, j: 1, jt: 1, ja: 1, f: 1, n: 1, k: 1, r: 1, c: 1, t: 1, p: 1, ys: 1 },
  l: 1,
}
/** Lists whose second part is a name. */
const NAMED_LISTS: ReadonlySet<string> = new Set(['j', 't', 'o', 's'])
/** Numbers are written in 18 characters. Those that share the first 11 are in one folder: of times, these are three hours. */
const NUMBER = /^[01]\d{10}/
const BUCKET_LENGTH = 11

const FOLDER_MARK = '+'
const LEAF_MARK = '='

/** The folders that a key is in, or those that all keys with this beginning are in: each as the part that it adds. */
export function foldersOf(beginning: string): string[] {
  const folders: string[] = []
  let rest = beginning
  const takeName = (): string | null => {
    const end = rest.indexOf(END)
    if (end === -1) return null
    folders.push(rest.slice(0, end + 1))
    rest = rest.slice(end + 1)
    return folders.at(-1)!.slice(0, -1)
  }
  const kind = takeName()
  if (kind === null) return folders
  let names = NAME_FOLDERS[kind] ?? 0
  for (let taken = 0; taken < names; taken++) {
    const name = takeName()
    if (name === null) return folders
    if (kind === 'l' && taken === 0 && NAMED_LISTS.has(name)) names++
  }
  if (NUMBER.test(rest)) folders.push(rest.slice(0, BUCKET_LENGTH))
  return folders
}

/** From a folder to the nodes in it, and back. Paths are below the root of a namespace. */
export class Layout {
  readonly root: string

  constructor(prefix: string, namespace: string) {
    this.root = `/${encode(encodeName(prefix))}/${encode(encodeName(namespace))}`
  }

  /** The node of a folder, which all keys with this beginning are below. */
  folder(folders: readonly string[]): string {
    return [this.root, ...folders.map((part) => FOLDER_MARK + encode(part))].join('/')
  }

  leaf(key: string): string {
    const folders = foldersOf(key)
    return `${this.folder(folders)}/${LEAF_MARK}${encode(key.slice(folders.join('').length))}`
  }

  /** A node that is not a key. */
  own(name: string): string {
    return `${this.root}/${name}`
  }
}

/** A child of a folder: a key, or a folder. */
export interface Child {
  readonly isFolder: boolean
  /** The key, or what all keys in the folder begin with. */
  readonly text: string
}

/** `null`: it is neither. */
export function readChild(beginning: string, name: string): Child | null {
  const mark = name[0]
  if (mark !== FOLDER_MARK && mark !== LEAF_MARK) return null
  return { isFolder: mark === FOLDER_MARK, text: beginning + decodeURIComponent(name.slice(1)) }
}

/** The innermost folder that all keys of a range are in. */
export function folderFor({ from, to }: KeyRange): string[] {
  const folders = foldersOf(from)
  while (folders.length > 0 && compareBytes(to, after(folders.join(''))) > 0) folders.pop()
  return folders
}

/** Whether a key with this beginning may be in the range. */
export function mayHold(beginning: string, { from, to }: KeyRange): boolean {
  return compareBytes(beginning, to) < 0 && compareBytes(from, after(beginning)) < 0
}

export function isIn(key: string, { from, to }: KeyRange): boolean {
  return compareBytes(key, from) >= 0 && compareBytes(key, to) < 0
}

/** Above all texts with this beginning, which ends in a separator or a digit. */
function after(beginning: string): string {
  return beginning.slice(0, -1) + String.fromCharCode(beginning.charCodeAt(beginning.length - 1) + 1)
}

/** Neither `.` nor `..` may be the name of a node. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('.', '%2E')
}

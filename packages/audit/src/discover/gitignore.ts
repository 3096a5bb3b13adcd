/** Whether a path is left out by one .gitignore. */
export type Ignore = (path: string, isFolder: boolean) => boolean

interface Pattern {
  readonly test: RegExp
  readonly isNegated: boolean
  readonly isFolderOnly: boolean
}

/** The rules of one .gitignore, for the folder that holds it. */
export function ignoreOf(folder: string, text: string): Ignore {
  const patterns = text
    .split('\n')
    .flatMap((line) => patternOf(line.replace(/\r$/, '').replace(/(?<!\\)\s+$/, '')) ?? [])
  return (path, isFolder) => {
    const local = folder === '' ? path : path.slice(folder.length + 1)
    let isIgnored = false
    for (const { test, isNegated, isFolderOnly } of patterns) {
      if ((!isFolderOnly || isFolder) && test.test(local)) isIgnored = !isNegated
    }
    return isIgnored
  }
}

function patternOf(line: string): Pattern | null {
  if (line === '' || line.startsWith('#')) return null
  const isNegated = line.startsWith('!')
  const isFolderOnly = line.endsWith('/')
  const body = line.replace(/^!/, '').replace(/\/$/, '')
  const isAnchored = body.includes('/')
  const source = body
    .replace(/^\//, '')
    .split(/(\*\*\/|\/\*\*|\*\*|\*|\?|\[[^\]]*\])/)
    .map((part) => translate(part))
    .join('')
  try {
    return { test: new RegExp(`^${isAnchored ? '' : '(?:.*/)?'}${source}$`), isNegated, isFolderOnly }
  } catch {
    return null
  }
}

function translate(part: string): string {
  if (part === '**/') return '(?:.*/)?'
  if (part === '/**') return '/.*'
  if (part === '**') return '.*'
  if (part === '*') return '[^/]*'
  if (part === '?') return '[^/]'
  if (part.startsWith('[')) return part.replace(/^\[!/, '[^')
  return part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
}

import type { ExportedTarget } from './exported.ts'

type Command = Extract<ExportedTarget, { kind: 'command' }>

/** The words of a command whose input is a text: a shell hands it over. */
export function shellWordsWithStdin({ words, stdin }: Command): readonly string[] {
  if (stdin === null) return words
  let mark = 'INPUT'
  while (stdin.split('\n').includes(mark)) mark += '_'
  const text = stdin === '' || stdin.endsWith('\n') ? stdin : `${stdin}\n`
  return ['/bin/sh', '-c', `exec "$@" <<'${mark}'\n${text}${mark}`, 'sh', ...words]
}

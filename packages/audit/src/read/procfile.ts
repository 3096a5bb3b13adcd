import type { Reader } from './reader.ts'

const LINE = /^([\w-]+):\s*(.+)$/

export const procfileReader: Reader = {
  name: 'Procfile',
  reads: (path) => /(?:^|\/)Procfile(?:\.[\w-]+)?$/.test(path),
  mayHoldFacts: () => true,
  read: ({ path, text }) =>
    text.split('\n').flatMap((written, index) => {
      const [, name, command] = LINE.exec(written.trim()) ?? []
      if (name === undefined || command === undefined) return []
      return [{ kind: 'process-type', place: { path, line: index + 1 }, name, command }]
    }),
}

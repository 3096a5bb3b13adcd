import type { Reader } from './reader.ts'
import { shellWords } from './words.ts'

const MAX_LINES = 1000
const LINE = /^([\w-]+):\s*(.+)$/

export const procfileReader: Reader = {
  name: 'Procfile',
  reads: (path) => /(?:^|\/)Procfile(?:\.[\w-]+)?$/.test(path),
  mayHoldFacts: () => true,
  read: ({ path, text }) =>
    text.split('\n', MAX_LINES).flatMap((written, index) => {
      const [, name, command] = LINE.exec(written.trim()) ?? []
      if (name === undefined || command === undefined) return []
      const place = { path, line: index + 1 }
      const words = shellWords(command)
      return [
        { kind: 'process-type', place, name, command },
        { kind: 'command', place, words },
        {
          kind: 'unit',
          place,
          format: 'procfile',
          name,
          instances: 'unstated',
          evidence: `${name}: ${command}`,
          command: words,
          entries: [],
          folder: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
          image: null,
          build: null,
          startsBeforeStop: null,
        },
      ]
    }),
}

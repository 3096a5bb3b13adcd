import { createInterface } from 'node:readline/promises'
import { Interrupted } from './interrupt.ts'

/** One question at a terminal. Ctrl-C and Ctrl-D are no answers. */
export function askAt(input: NodeJS.ReadStream, output: NodeJS.WriteStream): (question: string) => Promise<string> {
  return async (question) => {
    const reader = createInterface({ input, output })
    try {
      return await new Promise<string>((resolve, reject) => {
        reader.on('SIGINT', () => {
          output.write('\n')
          reject(new Interrupted('Interrupted by SIGINT.', 130))
        })
        reader.on('close', () => resolve(''))
        reader.question(question).then(resolve, reject)
      })
    } finally {
      reader.close()
    }
  }
}

import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { PACKAGE_FOLDER } from '../version.ts'

/** Of this program and of the library: where they are not installed, as in a checkout, they are no packages by their path. */
const OWN: readonly string[] = [PACKAGE_FOLDER.href, new URL('..', import.meta.resolve('cronce')).href]

/** Be told of every file of the user's that is loaded from now on: not of packages, and not of this program. */
export function watchLoads(tell: (file: string) => void): void {
  registerHooks({
    load(url, context, nextLoad) {
      const isUsers =
        url.startsWith('file:') && !url.includes('/node_modules/') && !OWN.some((own) => url.startsWith(own))
      // Before it is read: a file with a mistake in it is the one that will change.
      if (isUsers) tell(fileURLToPath(url))
      return nextLoad(url, context)
    },
  })
}

import { CronceError } from '../errors.ts'

/** The same as `engines` in package.json, which npm only warns about. */
const OLDEST = { major: 22, minor: 18 }

/** An older Node.js would fail later with a TypeError, or for want of `node:sqlite`. */
export function demandNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return
  throw new CronceError(
    'NODE_UNSUPPORTED',
    `cronce needs Node.js ${OLDEST.major}.${OLDEST.minor} or later, but this is ${version}.`,
    {
      hint: 'Install Node.js 24, for example with `nvm install 24`, or set its version in the image or CI that runs this.',
    },
  )
}

/** The build has every published entry import this first: an older Node.js fails here, with a message that says what to do. */
import { demandNode } from './node-version.ts'

demandNode(process.versions.node)

#!/usr/bin/env node
// Not built, so that it is there to be linked when the packages are installed from a checkout. And in the words of every
// Node.js that may come by: one that is too old is told so, before it stumbles over what it can't read.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  import('../dist/main.js')
} else {
  console.error(`cronce needs Node.js 22.18 or later; this is ${process.versions.node}.`)
  process.exitCode = 1
}

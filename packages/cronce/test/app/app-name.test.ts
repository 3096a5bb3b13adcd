import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideAppName, type NameFacts } from '../../src/app/app-name.ts'

const PM2_CONTAINER = '/usr/lib/node_modules/pm2/lib/ProcessContainerFork.js'
const PACKAGES: Readonly<Record<string, string>> = {
  '/usr/lib/node_modules/pm2': 'pm2',
  '/srv/shop': 'shop',
  '/srv/shop/node_modules/next': 'next',
  '/srv/mono': 'mono',
  '/srv/mono/packages/worker': '@mono/worker',
  '/srv/mail': 'mail',
  'C:\\srv\\shop': 'shop on Windows',
}

function nameOf(facts: Partial<NameFacts>): string | undefined {
  return decideAppName({
    program: undefined,
    pm2Program: undefined,
    mainModule: undefined,
    workingDirectory: undefined,
    packageNameIn: (folder) => PACKAGES[folder],
    ...facts,
  })
}

describe('the default name of an app', () => {
  const cases: readonly (readonly [title: string, facts: Partial<NameFacts>, name: string | undefined])[] = [
    ['is that of the package that holds the program', { program: '/srv/shop/server.js' }, 'shop'],
    ['is found from a build folder', { program: '/srv/shop/dist/bundle/server.js' }, 'shop'],
    ['is found from a program that is a folder', { program: '/srv/shop' }, 'shop'],
    [
      'is that of the workspace package, not of the monorepo that it was started from',
      { program: '/srv/mono/packages/worker/src/main.ts', workingDirectory: '/srv/mono' },
      '@mono/worker',
    ],
    [
      'is that of the package that PM2 was told to run, not pm2',
      { program: PM2_CONTAINER, mainModule: PM2_CONTAINER, pm2Program: '/srv/shop/server.js', workingDirectory: '/' },
      'shop',
    ],
    [
      "is a child's own, although PM2 was told to run its parent",
      { program: '/srv/mail/send.js', pm2Program: '/srv/shop/server.js' },
      'mail',
    ],
    [
      'is that of require.main when the program is a tool in node_modules',
      { program: '/srv/mail/node_modules/.bin/loader', mainModule: '/srv/mail/app.js', workingDirectory: '/srv/shop' },
      'mail',
    ],
    [
      'is that of the working directory when all else is in node_modules',
      {
        program: '/srv/shop/node_modules/next/dist/bin/next',
        mainModule: '/srv/shop/node_modules/next/dist/bin/next',
        workingDirectory: '/srv/shop',
      },
      'shop',
    ],
    [
      'is that of the working directory when the program belongs to no package',
      { program: '/var/runtime/index.mjs', workingDirectory: '/srv/shop' },
      'shop',
    ],
    [
      'is none for a file that was copied alone, also under PM2',
      { program: PM2_CONTAINER, mainModule: PM2_CONTAINER, pm2Program: '/opt/server.js', workingDirectory: '/' },
      undefined,
    ],
    ['is none in a tool that was started from nowhere', { program: PM2_CONTAINER, workingDirectory: '/' }, undefined],
    [
      'skips node_modules in the paths of Windows',
      { program: 'C:\\srv\\shop\\node_modules\\pm2\\lib\\x.js', workingDirectory: 'C:\\srv\\shop' },
      'shop on Windows',
    ],
  ]
  for (const [title, facts, name] of cases) {
    test(title, () => assert.equal(nameOf(facts), name))
  }
})

import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the default name of an app is decided on. Paths are absolute, with symbolic links resolved. */
export interface NameFacts {
  /** The file that Node was told to run. Under a process manager, a file of the process manager. */
  readonly program: string | undefined
  /** The file that PM2 was told to run. Child processes inherit the variable, so it counts only after `program`. */
  readonly pm2Program: string | undefined
  /** `require.main`, which some loaders set to the file that they load. */
  readonly mainModule: string | undefined
  readonly workingDirectory: string | undefined
  /** The `name` in the package.json of this folder, if it has one. */
  readonly packageNameIn: (folder: string) => string | undefined
}

/**
 * The name of the package that the application's own code belongs to. Files in `node_modules` are tools that many applications
 * share (a process manager, a framework, a test runner), so they never give an app its name.
 */
export function decideAppName(facts: NameFacts): string | undefined {
  const { program, pm2Program, mainModule, workingDirectory, packageNameIn } = facts
  for (const path of [program, pm2Program, mainModule, workingDirectory]) {
    const name = path === undefined || isInstalled(path) ? undefined : nearestName(path, packageNameIn)
    if (name !== undefined) return name
  }
  return undefined
}

function isInstalled(path: string): boolean {
  return path.split(/[\\/]/).includes('node_modules')
}

const FOLDERS_UP = 20

/** Begins at the path itself: `node packages/worker` names a folder. */
function nearestName(path: string, packageNameIn: NameFacts['packageNameIn']): string | undefined {
  let folder = path
  for (let up = 0; up < FOLDERS_UP; up++) {
    const name = packageNameIn(folder)
    if (name !== undefined) return name
    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
  }
  return undefined
}

/** The default name of an app in this process. */
export function readAppName(): string | undefined {
  const { pm_exec_path } = process.env
  return decideAppName({
    program: realPath(process.argv[1]),
    pm2Program: realPath(pm_exec_path),
    mainModule: realPath(process.mainModule?.filename),
    workingDirectory: workingDirectory(),
    packageNameIn: readPackageName,
  })
}

/** The path as it is if there is no such file: `node server` may run `server.js`. */
function realPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Throws when the directory has been deleted, which must not keep an app from starting. */
function workingDirectory(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}

function readPackageName(folder: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}

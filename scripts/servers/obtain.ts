import { ServerError } from './errors.ts'
import { installFromApt } from './install.ts'
import { findProgram, type Program, programs } from './programs.ts'

/** How a server gets hold of the programs it runs. */
export type Obtain = (program: Program) => Promise<string>

/** The program's path: found, else installed, else an error with what to install. */
export async function obtain(
  program: Program,
  find: (program: Program) => Promise<string | undefined> = findProgram,
  /** `false`: this machine is not ours to install on. */
  install: (program: Program) => Promise<boolean> = installFromApt,
): Promise<string> {
  const found = await find(program)
  if (found !== undefined) return found

  const installed = (await install(program)) ? await find(program) : undefined
  if (installed !== undefined) return installed

  const { names, packages } = programs[program]
  const hint = `Install it: apt-get install ${packages.apt} | brew install ${packages.brew} | dnf install ${packages.dnf}`
  throw new ServerError('PROGRAM_MISSING', `The tests need ${names[0]}, which is not on this machine.`, hint)
}

/** A browser for the dashboard's tests. */
export function findChromium(locate: Obtain = obtain): Promise<string> {
  return locate('chromium')
}

import { existsSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'

/** Where cron itself looks. */
const OF_CRON = ['/usr/bin', '/bin']

/** A PATH for crontabs: where node and cronce are on this machine, since cron looks in hardly any folder. */
export function programPath({ PATH = '' }: { readonly PATH?: string | undefined }): string {
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder))
  const folderOf = (program: string): string | undefined => folders.find((folder) => existsSync(join(folder, program)))
  const found = [folderOf('cronce') ?? '/usr/local/bin', folderOf('node') ?? dirname(process.execPath), ...OF_CRON]
  return [...new Set(found)].join(':')
}

import { profileTables } from '../shared/profile-tables.ts'
import { grouped, table } from '../shared/table.ts'
import type { Breakdown } from './profile-plan.ts'

const COMMANDS = 15

export function breakdownText({ rush, scripts, commands, profile }: Breakdown): string {
  const { count, effort } = rush
  const perFire = (us: number) => (us / count).toFixed(1)
  const intro =
    `One process, ${grouped(count)} due at one instant, while sampling. CPU per fire: ` +
    `${grouped(effort.cpuMs * 1000)} µs in the server, ${grouped(effort.clientCpuMs * 1000)} µs in the process, ` +
    `of which ${grouped(effort.clientMainMs * 1000)} µs are the main thread's.`
  const byScript = table(
    ['script', 'calls', 'ms per call', 'longest', 'µs per fire'],
    scripts.map(({ name, calls, us, longestUs }) => [
      `\`${name}\``,
      grouped(calls),
      (us / calls / 1000).toFixed(2),
      (longestUs / 1000).toFixed(2),
      perFire(us),
    ]),
  )
  const byCommand = table(
    ['command, in scripts or by itself', 'calls per fire', 'µs per call', 'µs per fire'],
    commands
      .slice(0, COMMANDS)
      .map(({ name, calls, us }) => [
        `\`${name}\``,
        (calls / count).toPrecision(2),
        (us / calls).toFixed(1),
        perFire(us),
      ]),
  )
  return [intro, byScript, byCommand, ...profileTables(profile, effort.clientMainMs)].join('\n\n')
}

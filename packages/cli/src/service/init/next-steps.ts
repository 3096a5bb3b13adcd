import type { ProjectFacts } from './detect.ts'

/** What is left to do, a line each. */
export function nextSteps(
  { packages, framework }: Pick<ProjectFacts, 'packages' | 'framework'>,
  store: string,
): string[] {
  const kind = kindOf(store)
  const driver = kind === 'postgres' ? ['pg', 'postgres'] : kind === 'redis' ? ['ioredis', 'redis'] : []
  const missing = [
    ...['cronce', '@cronce/cli'].filter((name) => !packages.includes(name)),
    ...(driver[0] === undefined || driver.some((name) => packages.includes(name)) ? [] : [driver[0]]),
  ]
  const variable = /^env:(.+)$/.exec(store)?.[1]
  return [
    ...(missing.length === 0 ? [] : [`npm install ${missing.join(' ')}`]),
    ...(variable === undefined ? [] : [`Set ${variable} to the URL of the store.`]),
    ...(kind === 'postgres' ? ['npx cronce migrate up         make its tables'] : []),
    'npx cronce dev                run the jobs here; a key fires one now',
    'npx cronce start              run them in production, on as many machines as you like',
    ...(framework === null
      ? []
      : [`In ${framework} itself: import { cronce } from 'cronce', and app.start() when it starts.`]),
  ]
}

function kindOf(store: string): 'postgres' | 'redis' | 'other' {
  if (/^postgres(ql)?:/.test(store) || store === 'env:DATABASE_URL') return 'postgres'
  return /^rediss?[:+-]/.test(store) || store === 'env:REDIS_URL' ? 'redis' : 'other'
}

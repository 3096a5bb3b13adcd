/** The manifest of a CronJob with further lines in its spec. */
export function cronJob(spec: string, apiVersion = 'batch/v1'): string {
  return `apiVersion: ${apiVersion}\nkind: CronJob\nmetadata:\n  name: report\nspec:\n${spec}  jobTemplate:\n    spec:\n      template: {}\n`
}

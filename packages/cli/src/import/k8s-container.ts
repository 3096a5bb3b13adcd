import { commandOf } from './exec-line.ts'
import type { JobRecord } from './imported.ts'
import type { Manifest, Report } from './k8s-documents.ts'

/** Names that `cronce export` puts into the environment, for `cronce exec`. */
const OURS = /^CRONCE_(STORE|NAMESPACE|K8S_JOB)$/

/** What the container of a CronJob runs. `null`: it can't be told, and was reported. */
export function readContainer(pod: Manifest, report: Report): JobRecord | null {
  const [container, ...others] = pod.at('containers').elements
  if (container === undefined) {
    report(pod, { level: 'lost', what: 'no container', why: 'there is nothing to run', todo: 'put it right' })
    return null
  }
  if (others.length > 0) {
    report(others[0]!, {
      level: 'lost',
      what: `${others.length + 1} containers`,
      why: 'a job runs one command',
      todo: 'make a job of the one that does the work',
    })
    return null
  }
  const env = readEnv(container, report)
  const expand = (text: string): string => expandVariables(text, env)
  const command = readWords(container.at('command'), report)
  const args = readWords(container.at('args'), report)
  if (command === null || args === null) return null
  if (command.length === 0) {
    report(container, {
      level: 'lost',
      what: 'no command',
      why: `what runs stands in the image ${container.at('image').text ?? ''}`.trimEnd(),
      todo: 'write out the command; docker inspect shows the ENTRYPOINT and the CMD',
    })
    return null
  }
  const image = container.at('image')
  if (image.text !== undefined) {
    report(image, {
      level: 'changed',
      what: `image ${image.text}`,
      why: 'the command runs where cronce start runs, not in an image of its own',
      todo: 'start it where the program is, such as in this image',
    })
  }
  const cwd = container.at('workingDir').text
  return {
    ...commandOf([...command, ...args].map(expand)),
    ...(cwd === undefined ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}

function readWords(list: Manifest, report: Report): string[] | null {
  const { value } = list
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value
  report(list, {
    level: 'lost',
    what: 'command or args',
    why: 'they are lists of texts',
    todo: 'put numbers in quotes',
  })
  return null
}

function readEnv(container: Manifest, report: Report): Readonly<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const variable of container.at('env').elements) {
    const name = variable.at('name').text
    if (name === undefined || OURS.test(name)) continue
    const { text } = variable.at('value')
    if (text !== undefined) env[name] = expandVariables(text, env)
    else if (variable.at('value').value !== undefined) {
      report(variable, {
        level: 'changed',
        what: `env ${name}`,
        why: 'its value is not a text',
        todo: 'put it in quotes',
      })
    } else if (variable.at('valueFrom').value !== undefined) {
      report(variable, {
        level: 'changed',
        what: `env ${name} from ${variable.at('valueFrom').keys.join(', ')}`,
        why: 'it comes from the cluster',
        todo: `set ${name} in the environment of cronce start, which the command is given`,
      })
    } else env[name] = ''
  }
  for (const source of container.at('envFrom').elements) {
    report(source, {
      level: 'changed',
      what: `envFrom ${source.keys.join(', ')}`,
      why: 'it comes from the cluster',
      todo: 'set what is in it in the environment of cronce start',
    })
  }
  return env
}

/** `$(NAME)` is a variable of the container, `$$(NAME)` is not; one that is not known stays, as in Kubernetes. */
function expandVariables(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^()]+)\)/g, (found, name: string | undefined) => {
    if (name === undefined) return '$'
    return Object.hasOwn(env, name) ? env[name]! : found
  })
}

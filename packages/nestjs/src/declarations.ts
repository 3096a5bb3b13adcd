import { CronceError, type JobOptions } from 'cronce'

/** What a decorator says about a method. */
export interface Declaration {
  /** `undefined`: `ClassName.method`. */
  readonly name: string | undefined
  readonly options: string | JobOptions
  /** Of `@Timeout`: each process triggers the job this long after its start. */
  readonly afterMs?: number
  readonly warning?: string
}

type Declarations = Map<string, readonly Declaration[]>

/**
 * On the prototype that owns the method, not on the function: decorators above ours may replace that. From the global registry, so that
 * two copies of this package see the same.
 */
const DECLARATIONS = Symbol.for('@cronce/nestjs:declarations')

export function declareOn(decorator: string, target: object, method: string | symbol, declaration: Declaration): void {
  if (typeof target === 'function' || typeof method === 'symbol') {
    throw new CronceError(
      'OPTION_INVALID',
      `${decorator} can't decorate ${String(method)}: it is static or a symbol.`,
      {
        hint: 'Decorate a method of a provider that has a name and is not static.',
      },
    )
  }
  if (!Object.hasOwn(target, DECLARATIONS)) Object.defineProperty(target, DECLARATIONS, { value: new Map() })
  const declared = Reflect.get(target, DECLARATIONS) as Declarations
  // Decorators are evaluated from the bottom up.
  declared.set(method, [declaration, ...(declared.get(method) ?? [])])
}

/** All of a class and its ancestors. A method that is overridden counts as its subclass declares it. */
export function declarationsOf(prototype: object): readonly (readonly [method: string, Declaration])[] {
  const found: [string, Declaration][] = []
  const overridden = new Set<string>()
  for (let owner: object | null = prototype; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const declared = Object.hasOwn(owner, DECLARATIONS) ? (Reflect.get(owner, DECLARATIONS) as Declarations) : new Map()
    for (const [method, declarations] of declared as Declarations)
      if (!overridden.has(method)) for (const declaration of declarations) found.push([method, declaration])
    for (const name of Object.getOwnPropertyNames(owner)) overridden.add(name)
  }
  return found
}

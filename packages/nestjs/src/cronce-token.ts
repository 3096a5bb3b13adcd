import type { Cronce as App } from 'cronce'

/** The type of the token below, which has no members of its own. */
export interface Cronce<Tx = unknown> extends App<Tx> {}

/**
 * The app that `cronce()` returns, as a class: so a constructor parameter of this type is injected without a decorator. Nothing is an
 * instance of it.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the provider of the token has the members of the interface
// biome-ignore lint/correctness/noUnusedVariables: both declarations must have the same parameters
export abstract class Cronce<Tx = unknown> {}

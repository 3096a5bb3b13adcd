/** A module without a default export. */
export const handler = (): string => 'never called'

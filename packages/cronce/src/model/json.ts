/** What survives being stored. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

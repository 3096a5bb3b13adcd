/** For messages: where a store is, without user, password and options, which may be secrets. `null`: this is not a URL. */
export function nameOfUrl(url: string): string | null {
  const match = /^([a-z+-]+:\/\/)(?:[^?#]*@)?([^?#]*)/.exec(url)
  return match === null ? null : `${match[1]}${match[2]}`
}

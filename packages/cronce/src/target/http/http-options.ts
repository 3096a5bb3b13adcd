export interface HttpOptions {
  readonly url: string | URL
}

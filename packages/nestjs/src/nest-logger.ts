import { Logger as NestLogger } from '@nestjs/common'
import type { Logger } from 'cronce'

/** What cronce reports goes where the application's own lines go. */
export function nestLogger(): Required<Logger> {
  const logger = new NestLogger('Cronce')
  return {
    error: (message) => logger.error(message),
    warn: (message) => logger.warn(message),
    info: (message) => logger.log(message),
  }
}

import type { StoreSource } from 'cronce'
import { redis } from 'cronce/redis'
import { setupOf } from '../shared/answering.ts'
import { serveInstance } from '../shared/cronce-instance.ts'

const { url, concurrency } = setupOf()
serveInstance(redis(url) as StoreSource, concurrency)

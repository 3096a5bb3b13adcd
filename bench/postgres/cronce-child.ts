import type { StoreSource } from 'cronce'
import { postgres } from 'cronce/postgres'
import { setupOf } from '../shared/answering.ts'
import { serveInstance } from '../shared/cronce-instance.ts'

const { url, concurrency } = setupOf()
serveInstance(postgres(url, { migrate: 'auto' }) as StoreSource, concurrency)

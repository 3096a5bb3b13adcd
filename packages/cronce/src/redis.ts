export { type RedisOptions, redis } from './store/redis/redis.ts'

export { type ZooKeeperOptions, zookeeper } from './store/zookeeper/zookeeper.ts'

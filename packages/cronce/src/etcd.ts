export { type EtcdOptions, etcd } from './store/etcd/etcd.ts'

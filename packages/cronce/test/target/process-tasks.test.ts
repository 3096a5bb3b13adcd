import { describeTasks } from './describe-tasks.ts'

describeTasks('process')

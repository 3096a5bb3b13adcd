import { describeTasks } from './describe-tasks.ts'

describeTasks('thread')

// An application that is CommonJS still: every supported Node can require ES modules.
const { cronce } = require('cronce')

const app = cronce({ store: 'memory:' })

app.job('hello', { every: '1s' }, () => {
  console.log('hello from CommonJS')
  void app.stop()
})

app.start()

/* prints
hello from CommonJS
*/

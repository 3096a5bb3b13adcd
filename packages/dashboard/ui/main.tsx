import { render } from 'preact'
import './style/index.css'
import { App } from './app.tsx'
import { begin } from './core/session.ts'

void begin()
render(<App />, document.getElementById('app')!)

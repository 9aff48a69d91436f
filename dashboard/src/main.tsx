import { render } from 'preact';
import { followLoginLink } from './data/access.js';
import { followHealth } from './data/health/health.js';
import { App } from './app.js';
import './styles/index.css';

await followLoginLink();
followHealth();
render(<App />, document.getElementById('app')!);

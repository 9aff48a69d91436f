import { render } from 'preact';
import { followLoginLink } from './data/access.js';
import { App } from './app.js';
import './styles/index.css';

await followLoginLink();
render(<App />, document.getElementById('app')!);

export { completeLocally } from './complete.js';

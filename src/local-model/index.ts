export { completeLocally } from './complete.js';
export type { ThreadAnswer } from './thread.js';

export { completeLocally } from './complete.js';
export type { LocalRequest, ThreadAnswer } from './thread.js';

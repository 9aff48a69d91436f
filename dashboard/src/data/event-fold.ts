import type { Event } from '../../../src/client/index.js';

/** Something that reads each event once. */
export interface EventFold {
  add(event: Event): void;
}

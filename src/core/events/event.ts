import type { EventOf, EventType } from '../../contracts/events/schema.js';

/** `key` is unique per job and names the occurrence, so that a retry appends nothing. */
export type NewEvent<Type extends EventType = EventType> = { key: string } & EventOf<Type>;
